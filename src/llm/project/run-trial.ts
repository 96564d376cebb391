import { defined } from '../../defined.ts'
import { type CallOptions, type LanguageModel, readConversation } from '../agent/ai-sdk/read-call.ts'
import { AgogeError } from '../../error.ts'
import { endingOfMistake } from '../agent/model-mistakes.ts'
import type { Scored, Unscored } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { isOverflow, untilAborted } from '../rollout/agents/rollout-agent.ts'
import type { AgentSetup } from '../setup/setup.ts'
import type { Verify } from '../setup/test-time.ts'
import { withSetup } from '../setup/with-setup.ts'
import type { ToolLike } from '../tool/define-tools.ts'
import { InfrastructureError, type ToolSpec } from '../tool/tool.ts'
import { type Budget, BudgetReached, type Spending } from './budget.ts'
import type { AgentEnvironment, AgogeConfig, Trial } from './config.ts'
import type { TrialEndpoints } from './endpoint.ts'
import type { EnvironmentTool, OpenedEnvironment, TrialSession } from './environment.ts'
import type { Journal, TrialRecord } from './journal.ts'
import { type CallLimits, type CallMeter, meterModel } from './metered-model.ts'
import type { OpenedScorer } from './judging/score-trials.ts'
import type { OpenedModel } from './models.ts'
import { type CallResult, type RecordedCalls, recordCalls } from '../gateway/record-calls.ts'
import { textOf } from './scorers.ts'
import type { ToolTrial } from './tools.ts'

/** One trial to be made. */
export interface TrialSpec {
  id: string
  task: FileTask
  model: OpenedModel
  trial: number
  /** What is changed about the agent's calls. Default: nothing. */
  setup?: AgentSetup
}

/** What all trials of an evaluation share. */
export interface TrialSettings {
  agent: AgogeConfig['agent']
  scorers: readonly OpenedScorer[]
  /** Those that a setup may name. */
  models: readonly OpenedModel[]
  verify?: Verify | undefined
  tools: (trial: ToolTrial) => Record<string, ToolLike>
  /** Default: none. */
  environment?: Pick<OpenedEnvironment, 'open'> | undefined
  endpoints: TrialEndpoints
  journal: Journal
  budget: Budget
  limits: CallLimits
  trialSeconds: number
  /** Ends all of them. */
  stop: AbortController
  /** Called with the tools of each call, as the model sees them. Default: nothing. */
  onOffered?: (tools: readonly ToolSpec[]) => void
  signal: AbortSignal
  /** Hides what must not be stored. */
  redact: (text: string) => string
}

/** A trial that ended and is not scored yet. */
export interface EndedTrial {
  episode: Trial
  modelCalls: number
  /** Of the agent's calls. */
  cost: Spending
}

/**
 * Runs the agent once. A fault of a model or a tool masks the trial, also if the agent hid it: what an agent
 * does without the answer that it was waiting for says nothing about it.
 *
 * @throws AgogeError for a mistake that no trial would get over; BudgetReached if the budget did not suffice; the reason of `signal`.
 */
export async function runTrial(spec: TrialSpec, settings: TrialSettings): Promise<EndedTrial> {
  const { task, trial } = spec
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
    onCall(options: CallOptions, result: CallResult) {
      calls.onCall(options, result)
      settings.onOffered?.(readConversation(options).tools)
    },
    onFault: (error: Error) => faults.push(error),
    onCost: ({ tokens, dollars }: Spending) => {
      spent.tokens += tokens
      spent.dollars += dollars
    },
  }
  const onFault = (reason: string): void => void faults.push(new InfrastructureError(reason))
  const tools = settings.tools({ id: spec.id, journal, onFault })
  const metered = modelOfTrial(spec, meter, settings)
  const endpoint = settings.endpoints.of({ model: metered, name: spec.model.name, onFault: meter.onFault })

  const act = async (): Promise<Ended> => {
    try {
      const { output, judgement } = await playAgent(task, {
        ...settings,
        tools,
        model: metered,
        endpoint: endpoint.open,
        trial,
        signal,
        done,
        onFault,
        isFaulty: () => faults.length > 0,
      })
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
      const ending = faults.length > 0 ? undefined : endingOfMistake(error)
      if (ending !== undefined) return { ...masked(ending, error), status: 'failed' }
      return masked('infrastructure', faults[0] ?? error)
    } finally {
      endpoint.close()
    }
  }
  const ended = await act()
  const fault = faults.find((one) => one instanceof BudgetReached || AgogeError.isInstance(one))
  if (fault !== undefined) throw fault
  const episode: Trial = {
    ...episodeOf(spec, ended, calls),
    timing: { seconds: (performance.now() - started) / 1000, toolSeconds: 0 },
    model: spec.model.name,
    given: task,
    output: ended.output,
    ...defined({ judgement: ended.judgement }),
    ...(ended.error !== undefined && { error: redact(ended.error) }),
  }
  return { episode, modelCalls: calls.count(), cost: spent }
}

/** The model that the agent gets: metered, and changed by the setup of the trial. */
function modelOfTrial({ model, setup }: TrialSpec, meter: CallMeter, settings: TrialSettings): LanguageModel {
  const metered = meterModel(model, meter)
  if (setup === undefined) return metered
  const named = settings.models.map((one) => [one.name, meterModel(one, meter)] as const)
  return withSetup(metered, setup, {
    models: Object.fromEntries(named),
    ...defined({ verify: settings.verify }),
  })
}

/** What `playAgent` needs besides the task. */
export interface PlaySettings extends Pick<TrialSettings, 'agent' | 'environment'> {
  model: LanguageModel
  endpoint: AgentEnvironment['endpoint']
  /** Those of the config. */
  tools: Record<string, ToolLike>
  trial: number
  /** Of the trial. Aborts also with `done`. */
  signal: AbortSignal
  /** Aborted at the end, for what the agent left running. */
  done: AbortController
  onFault: (reason: string) => void
  /** A state after a fault is not judged. */
  isFaulty: () => boolean
}

/** What an agent returned, and what the judge of the environment found. */
export interface Played {
  output: unknown
  judgement?: Scored | Unscored
}

/** Runs the agent once, in a state of its own if there is an environment. Throws what the agent throws, and the reason of `signal`. */
export async function playAgent(
  task: FileTask,
  { agent, environment, model, endpoint, tools, trial, signal, done, onFault, isFaulty }: PlaySettings,
): Promise<Played> {
  let session: TrialSession | undefined
  try {
    session = await environment?.open(task, { signal, onFault })
    const act = async (): Promise<unknown> =>
      agent(task, {
        model,
        endpoint,
        // The types of a config know its own tools by name.
        tools: { ...session?.tools, ...tools } as Record<string, EnvironmentTool>,
        signal,
        trial,
      })
    const output = await untilAborted(act(), signal)
    const judgement = isFaulty() ? undefined : await session?.judge(textOf(output))
    return { output, ...defined({ judgement }) }
  } finally {
    // Ends what the agent left running.
    done.abort(new Error('the trial is over'))
    await session?.close()
  }
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

/** The record of a trial that was scored. */
export function recordOf(
  { episode, modelCalls, cost }: EndedTrial,
  scores: Record<string, number | null>,
): TrialRecord {
  const { model, task, seed, status, ending, success, usage, kind, timing, error } = episode
  return {
    model,
    task,
    kind,
    trial: seed,
    status,
    ending,
    success,
    scores,
    cost,
    seconds: timing.seconds,
    modelCalls,
    usage,
    ...(error !== undefined && { error }),
  }
}
