import { encodeEpisode } from '../episode/codec.ts'
import { inParallel } from '../in-parallel.ts'
import { redactorOf, secretsOfEnvironment } from '../tool/redact.ts'
import { BudgetReached, createBudget, type Spending } from './budget.ts'
import { type AgogeConfig, isGroupScorer } from './config.ts'
import type { TrialEndpoints } from './endpoint.ts'
import type { OpenedEnvironment } from './environment.ts'
import type { EvaluationEvent } from './evaluate.ts'
import type { Journal, TrialRecord } from './journal.ts'
import { limitsOf } from './metered-model.ts'
import { openJudgements } from './judging/judgements.ts'
import type { OpenedJudges } from './judging/judges.ts'
import { scoreGroup, scoreTrial, settle, type TrialScores } from './judging/score-trials.ts'
import type { OpenedModel } from './models.ts'
import { type EndedTrial, recordOf, runTrial, type TrialSettings, type TrialSpec } from './run-trial.ts'
import type { Sequential } from './sequential.ts'
import { createTools } from './tools.ts'

/** What has been opened for the trials of a config. */
export interface OpenedForTrials {
  journal: Journal
  environment: OpenedEnvironment | undefined
  /** Those of the config. */
  models: readonly OpenedModel[]
  judges: OpenedJudges
  endpoints: TrialEndpoints
  /** The columns that are compared. Default: the names of the models. */
  names?: readonly string[]
  /** The file in which judgements are shared with other evaluations. Default: none. */
  shared?: string | undefined
  /** The folder of the config. */
  root: string
  signal?: AbortSignal | undefined
}

/** What the trials of a config share. The budget counts what the journal says was spent. */
export function trialSettings(config: AgogeConfig, opened: OpenedForTrials): TrialSettings {
  const { journal, environment, models, judges, names = models.map(({ name }) => name) } = opened
  const budget = createBudget(config.budget)
  budget.restore(journal.spent)
  const stop = new AbortController()
  const calls = {
    journal,
    budget,
    limits: limitsOf(config),
    signal: opened.signal === undefined ? stop.signal : AbortSignal.any([opened.signal, stop.signal]),
    redact: redactorOfEnvironment(),
  }
  return {
    ...calls,
    stop,
    agent: config.agent,
    scorers: judges.scorers({
      ...calls,
      judgements: openJudgements(opened.shared),
      models: names,
      folder: opened.root,
    }),
    tools: createTools(config.tools ?? {}),
    models,
    verify: config.verify,
    environment,
    endpoints: opened.endpoints,
    trialSeconds: config.trialSeconds ?? 600,
  }
}

/** What `runTrials` needs besides the trials. */
export interface TrialRun {
  settings: TrialSettings
  /** Default: 8. */
  concurrency: number | undefined
  keepEpisode: (line: string) => void
  /** Finished trials. Those that are made are added. */
  records: Map<string, TrialRecord>
  emit: (event: Exclude<EvaluationEvent, { type: 'result' | 'plan' }>) => void
  sequential?: Sequential | undefined
}

/** A trial that was run and is not recorded yet. */
interface Unrecorded {
  id: string
  ended: EndedTrial
  scores: TrialScores
}

/** Runs and scores the trials that have no record yet. Returns what all calls have cost. */
export async function runTrials(specs: readonly TrialSpec[], run: TrialRun): Promise<Spending> {
  const { settings, concurrency = 8, records, emit, sequential } = run
  const { budget, scorers, stop } = settings
  const open = specs.filter(({ id }) => !records.has(id))
  const gather = scorers.some(({ scorer }) => isGroupScorer(scorer))
    ? gatherTasks(open)
    : (_: TrialSpec, one: Unrecorded) => [one]
  for (const record of records.values()) sequential?.add(record)
  await inParallel(open, concurrency, async (spec) => {
    if (budget.isReached() || sequential?.isCertain() === true) return
    try {
      const ended = await runTrial(spec, settings)
      const scores = await scoreTrial(ended.episode, scorers)
      const finished = gather(spec, { id: spec.id, ended, scores })
      if (finished === undefined) return
      await scoreGroup(
        finished.map((one) => ({ trial: one.ended.episode, scores: one.scores })),
        scorers,
      )
      keep(finished, specs.length, run)
    } catch (error) {
      // What the others have under way is paid for: it ends by itself, or by the budget too.
      if (error instanceof BudgetReached) return
      stop.abort(error)
      throw error
    }
  })
  if (budget.isReached()) emit({ type: 'budget-reached', spent: budget.spent() })
  if (sequential?.isCertain() === true) emit({ type: 'certain', comparisons: sequential.comparisons() })
  return budget.spent()
}

/** Records the trials of a group in one line of the journal, so that it is never half recorded. */
function keep(
  trials: readonly Unrecorded[],
  total: number,
  { settings: { scorers, journal, budget }, records, keepEpisode, sequential, emit }: TrialRun,
): void {
  const recorded = trials.map(({ id, ended, scores }) => {
    settle(ended.episode, scores, scorers)
    keepEpisode(encodeEpisode(ended.episode))
    return [id, recordOf(ended, scores)] as [string, TrialRecord]
  })
  journal.write(
    recorded.length === 1
      ? { type: 'trial', trial: recorded[0][0], record: recorded[0][1] }
      : { type: 'trials', records: recorded },
  )
  for (const [id, record] of recorded) {
    records.set(id, record)
    sequential?.add(record)
    emit({ type: 'trial', record, done: records.size, total, spent: budget.spent() })
  }
}

/** Collects the trials of each task. Returns all of them, in the order of the plan, once the last is in. */
function gatherTasks(
  open: readonly TrialSpec[],
): (spec: TrialSpec, one: Unrecorded) => readonly Unrecorded[] | undefined {
  const order = new Map(open.map(({ id }, at) => [id, at]))
  const expected = new Map<string, number>()
  for (const { task } of open) expected.set(task.id, (expected.get(task.id) ?? 0) + 1)
  const gathered = new Map<string, Unrecorded[]>()
  return ({ task }, one) => {
    const all = [...(gathered.get(task.id) ?? []), one]
    gathered.set(task.id, all)
    if (all.length < (expected.get(task.id) ?? 0)) return undefined
    gathered.delete(task.id)
    return all.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
  }
}

/** Hides values of the environment that a message of a service might repeat. */
export function redactorOfEnvironment(): (text: string) => string {
  const redactor = redactorOf(secretsOfEnvironment())
  return (text) => redactor.text(text)
}
