import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { readScore, rewardsOfScore, type Score, type Scored, type Unscored } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { isOverflow, untilAborted } from '../rollout/agents/rollout-agent.ts'
import type { ToolLike } from '../tool/define-tools.ts'
import { InfrastructureError } from '../tool/tool.ts'
import { type Budget, BudgetReached, type Spending } from './budget.ts'
import type { AgogeConfig, Scorer, Trial } from './config.ts'
import type { TrialEndpoints } from './endpoint.ts'
import type { EnvironmentTool, OpenedEnvironment, TrialSession } from './environment.ts'
import type { Journal, TrialRecord } from './journal.ts'
import { type CallLimits, meterModel } from './metered-model.ts'
import type { OpenedModel } from './models.ts'
import { type RecordedCalls, recordCalls } from '../gateway/record-calls.ts'
import { textOf } from './scorers.ts'
import type { ToolTrial } from './tools.ts'

/** One trial to be made. */
export interface TrialSpec {
  id: string
  task: FileTask
  model: OpenedModel
  trial: number
}

/** What all trials of an evaluation share. */
export interface TrialSettings {
  agent: AgogeConfig['agent']
  scorers: Readonly<Record<string, Scorer>>
  tools: (trial: ToolTrial) => Record<string, ToolLike>
  /** Default: none. */
  environment?: Pick<OpenedEnvironment, 'open'> | undefined
  endpoints: TrialEndpoints
  journal: Journal
  budget: Budget
  limits: CallLimits
  trialSeconds: number
  signal: AbortSignal
  /** Hides what must not be stored. */
  redact: (text: string) => string
}

/** A trial that ended: its record and its episode. */
export interface EndedTrial {
  record: TrialRecord
  episode: Trial
}

/**
 * Runs the agent once and scores what it did. A fault of a model, a tool or a scorer masks the trial, also if the agent hid it: what an agent
 * does without the answer that it was waiting for says nothing about it.
 *
 * @throws AgogeError for a mistake that no trial would get over; BudgetReached if the budget did not suffice; the reason of `signal`.
 */
export async function runTrial(spec: TrialSpec, settings: TrialSettings): Promise<EndedTrial> {
  const { task, model, trial } = spec
  const { journal, budget, limits, redact } = settings
  const started = performance.now()
  const deadline = AbortSignal.timeout(Math.ceil(settings.trialSeconds * 1000))
  const done = new AbortController()
  const signal = AbortSignal.any([settings.signal, deadline, done.signal])
  const faults: Error[] = []
  const calls = recordCalls()
  const spent: Spending = { tokens: 0, dollars: 0 }
  const meter = {
    trial: spec.id,
    journal,
    budget,
    limits,
    signal,
    onCall: calls.onCall,
    onFault: (error: Error) => faults.push(error),
    onCost: ({ tokens, dollars }: Spending) => {
      spent.tokens += tokens
      spent.dollars += dollars
    },
  }
  const onFault = (reason: string): void => void faults.push(new InfrastructureError(reason))
  const tools = settings.tools({ id: spec.id, journal, onFault })
  let session: TrialSession | undefined
  const metered = meterModel(model, meter)
  const endpoint = settings.endpoints.of({ model: metered, name: model.name, onFault: meter.onFault })

  const act = async (): Promise<Ended> => {
    try {
      session = await settings.environment?.open(task, { signal, onFault })
      const agent = async (): Promise<unknown> =>
        settings.agent(task, {
          model: metered,
          endpoint: endpoint.open,
          // The types of a config know its own tools by name.
          tools: { ...session?.tools, ...tools } as Record<string, EnvironmentTool>,
          signal,
          trial,
        })
      const output = await untilAborted(agent(), signal)
      const judgement = faults.length > 0 ? undefined : await session?.judge(textOf(output))
      return faults.length > 0
        ? masked('infrastructure', faults[0])
        : { status: 'ok', ending: 'answered', output, ...defined({ judgement }) }
    } catch (error) {
      settings.signal.throwIfAborted()
      const fault = faults.find((one) => one instanceof BudgetReached || AgogeError.isInstance(one))
      if (fault !== undefined) throw fault
      if (deadline.aborted)
        return masked('deadline', new Error(`the trial took longer than ${settings.trialSeconds} s`))
      if (isOverflow(error) || (endpoint.isOverflowing() && faults.length === 0))
        return { status: 'failed', ending: 'token-limit', output: null }
      if (AgogeError.isInstance(error)) throw error
      return masked('infrastructure', faults[0] ?? error)
    } finally {
      // Ends what the agent left running.
      done.abort(new Error('the trial is over'))
      endpoint.close()
      await session?.close()
    }
  }
  const ended = await act()
  const fault = faults.find((one) => one instanceof BudgetReached || AgogeError.isInstance(one))
  if (fault !== undefined) throw fault
  const episode: Trial = {
    ...episodeOf(spec, ended, calls),
    timing: { seconds: (performance.now() - started) / 1000, toolSeconds: 0 },
    given: task,
    output: ended.output,
    ...defined({ judgement: ended.judgement }),
    ...(ended.error !== undefined && { error: redact(ended.error) }),
  }
  const scores = await scoreTrial(episode, settings)
  return { record: recordOf(spec, episode, scores, calls, spent), episode }
}

interface Ended {
  status: Episode['status']
  ending: Episode['ending']
  output: unknown
  judgement?: Scored | Unscored
  error?: string
}

function masked(ending: Episode['ending'], cause: unknown): Ended {
  const error = cause instanceof Error ? cause.message : String(cause)
  return { status: 'masked', ending, output: null, error }
}

function episodeOf(
  { id, task, trial }: TrialSpec,
  { status, ending }: Ended,
  { nodes, samples, usage }: RecordedCalls,
): Omit<Episode, 'timing'> {
  return {
    schema: 1,
    id,
    group: id.slice(0, id.lastIndexOf('/')),
    environment: 'agent',
    task: task.id,
    kind: task.kind ?? 'own',
    seed: trial,
    context: {},
    status,
    ending,
    nodes,
    samples,
    rewards: [],
    success: status === 'failed' ? false : null,
    usage,
  }
}

/**
 * Asks the scorers and puts the result into the episode. A scorer that cannot judge, or whose own service fails, masks the trial.
 *
 * @throws AgogeError `bad-reward` if a scorer returns something that is not a score; any other error that a scorer throws.
 */
export async function scoreTrial(
  episode: Trial,
  { scorers, signal }: Pick<TrialSettings, 'scorers' | 'signal'>,
): Promise<Record<string, number | null>> {
  if (episode.status !== 'ok') return {}
  const scores: Record<string, number | null> = {}
  const reasons: string[] = []
  for (const [name, scorer] of Object.entries(scorers)) {
    const score = readScore(await askScorer(scorer, episode, signal), `trial ${episode.id}`)
    scores[name] = score.value
    if (score.value === null) reasons.push(`${name}: ${score.reason ?? 'it could not be judged'}`)
    const { reason } = score
    episode.rewards.push(
      ...rewardsOfScore(score, 'agent').map((reward) => ({ ...reward, name: `${name}:${reward.name}` })),
      { agent: 'agent', name, value: score.value, ...(reason !== undefined && { reason }) },
    )
  }
  const values = Object.values(scores)
  if (reasons.length > 0) {
    episode.status = 'masked'
    episode.error = reasons.join('; ')
  } else episode.success = values.every((value) => value !== null && value >= 1)
  return scores
}

async function askScorer(scorer: Scorer, episode: Trial, signal: AbortSignal): Promise<Score> {
  try {
    return await scorer(episode, { signal })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof InfrastructureError)) throw error
    return { value: null, reason: error.message }
  }
}

function recordOf(
  { model, task, trial }: TrialSpec,
  episode: Trial,
  scores: Record<string, number | null>,
  calls: RecordedCalls,
  cost: Spending,
): TrialRecord {
  const { status, ending, success, usage, kind, timing, error } = episode
  return {
    model: model.name,
    task: task.id,
    kind,
    trial,
    status,
    ending,
    success,
    scores,
    cost,
    seconds: timing.seconds,
    modelCalls: calls.count(),
    usage,
    ...(error !== undefined && { error }),
  }
}
