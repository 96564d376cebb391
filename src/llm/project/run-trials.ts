import { encodeEpisode } from '../episode/codec.ts'
import { inParallel } from '../in-parallel.ts'
import { redactorOf } from '../tool/redact.ts'
import { BudgetReached, createBudget, type Spending } from './budget.ts'
import type { AgogeConfig } from './config.ts'
import { isGroupScorer } from './config.ts'
import type { OpenedEnvironment } from './environment.ts'
import type { EvaluateOptions, EvaluationEvent } from './evaluate.ts'
import type { Store } from './evaluation-store.ts'
import type { TrialRecord } from './journal.ts'
import { limitsOf } from './metered-model.ts'
import { openJudgements } from './judging/judgements.ts'
import type { OpenedJudges } from './judging/judges.ts'
import { scoreGroup, scoreTrial, settle, type TrialScores } from './judging/score-trials.ts'
import { type EndedTrial, recordOf, runTrial, type TrialSpec } from './run-trial.ts'
import type { Sequential } from './sequential.ts'
import { createTools } from './tools.ts'

/** What the trials of an evaluation need besides its config. */
export interface Running extends Store, Pick<EvaluateOptions, 'signal' | 'shared'> {
  records: Map<string, TrialRecord>
  environment: OpenedEnvironment | undefined
  sequential: Sequential | undefined
  judges: OpenedJudges
  /** Of the models. */
  names: readonly string[]
  /** The folder of the config. */
  root: string
  emit: (event: EvaluationEvent) => void
}

/** A trial that was run and is not recorded yet. */
interface Unrecorded {
  id: string
  ended: EndedTrial
  scores: TrialScores
}

/** Runs and scores the trials that have no record yet. Returns what all calls have cost. */
export async function runTrials(
  specs: readonly TrialSpec[],
  config: AgogeConfig,
  running: Running,
): Promise<Spending> {
  const { journal, records, emit, keepEpisode, environment, sequential, signal, judges } = running
  const budget = createBudget(config.budget)
  budget.restore(journal.spent)
  const stop = new AbortController()
  const shared = {
    journal,
    budget,
    limits: limitsOf(config),
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    redact: redactorOfEnvironment(),
  }
  const settings = {
    ...shared,
    agent: config.agent,
    tools: createTools(config.tools ?? {}),
    environment,
    trialSeconds: config.trialSeconds ?? 600,
  }
  const scorers = judges.scorers({
    ...shared,
    judgements: openJudgements(running.shared),
    models: running.names,
    folder: running.root,
  })
  const open = specs.filter(({ id }) => !records.has(id))
  const gather = scorers.some(({ scorer }) => isGroupScorer(scorer))
    ? gatherTasks(open)
    : (_: TrialSpec, one: Unrecorded) => [one]
  for (const record of records.values()) sequential?.add(record)

  /** One line of the journal, so that a group is never half recorded. */
  function keep(trials: readonly Unrecorded[]): void {
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
      emit({ type: 'trial', record, done: records.size, total: specs.length, spent: budget.spent() })
    }
  }
  try {
    await inParallel(open, config.concurrency ?? 8, async (spec) => {
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
        keep(finished)
      } catch (error) {
        // What the others have under way is paid for: it ends by itself, or by the budget too.
        if (error instanceof BudgetReached) return
        stop.abort(error)
        throw error
      }
    })
  } finally {
    stop.abort(new Error('the evaluation is over'))
  }
  if (budget.isReached()) emit({ type: 'budget-reached', spent: budget.spent() })
  if (sequential?.isCertain() === true) emit({ type: 'certain', comparisons: sequential.comparisons() })
  return budget.spent()
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
  const secrets = Object.entries(process.env).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASSWORD/i.test(name) && value !== undefined && value.length >= 8 ? [value] : [],
  )
  const redactor = redactorOf(secrets)
  return (text) => redactor.text(text)
}
