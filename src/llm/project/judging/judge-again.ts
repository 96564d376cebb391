import { resolve } from 'node:path'
import { createBudget, type Spending } from '../budget.ts'
import { type AgogeConfig, checkConfig, type Trial } from '../config.ts'
import { inParallel } from '../../in-parallel.ts'
import { openJournal } from '../journal.ts'
import { limitsOf } from '../metered-model.ts'
import { openModels } from '../models.ts'
import { redactorOfEnvironment } from '../run-trials.ts'
import type { ScoredTrial } from './check-judges.ts'
import { openJudgements } from './judgements.ts'
import { type Judge, openJudges } from './judges.ts'
import { scoreGroup, scoreTrial } from './score-trials.ts'

/** What `judgeAgain` needs besides the config and the trials. */
export interface JudgeAgainOptions {
  /** Of the config. */
  folder: string
  /** As for `evaluate`. */
  shared: string
  /** Ids of the trials that are compared with labels. The others of their tasks are shown to scorers of groups only. */
  labelled: ReadonlySet<string>
  signal: AbortSignal
}

/**
 * Asks the scorers of a config about trials of an evaluation that is over, so that a rubric can be changed and compared with the same labels. Its
 * budget and limits hold; judgements that are known cost nothing. The agent is not run.
 *
 * @throws BudgetReached if the budget does not suffice; the answers so far are kept in the judgements.
 */
export async function judgeAgain(
  config: AgogeConfig,
  trials: readonly Trial[],
  { folder, shared, labelled, signal }: JudgeAgainOptions,
): Promise<{ judges: Judge[]; trials: ScoredTrial[]; spent: Spending }> {
  checkConfig(config)
  const root = resolve(folder)
  // Its own models are not run; a judge may be one of them.
  const opened = await openJudges(
    { ...config, models: [] },
    root,
    await openModels({ ...config, models: [] }, root),
  )
  try {
    const budget = createBudget(config.budget)
    const scorers = opened.scorers({
      journal: openJournal(undefined, {}),
      budget,
      limits: limitsOf(config),
      judgements: openJudgements(shared),
      models: [...new Set(trials.map(({ model }) => model))],
      folder: root,
      signal,
      redact: redactorOfEnvironment(),
    })
    const byTask = new Map<string, Trial[]>()
    for (const trial of trials)
      byTask.set(trial.task, [...(byTask.get(trial.task) ?? []), { ...trial, status: 'ok', rewards: [] }])
    const judged = await inParallel([...byTask.values()], config.concurrency ?? 8, async (group) => {
      const scored = await inParallel(group, 4, async (trial) => ({
        trial,
        scores: labelled.has(trial.id) ? await scoreTrial(trial, scorers) : {},
      }))
      await scoreGroup(scored, scorers)
      return scored.map(({ trial: { id, task }, scores }) => ({ id, task, scores }))
    })
    return { judges: opened.judges, trials: judged.flat(), spent: budget.spent() }
  } finally {
    await opened.dispose()
  }
}
