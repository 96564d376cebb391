import type { FileTask } from '../../environment/mcp/goals/task-file.ts'
import type { AgogeConfig } from '../config.ts'
import { type EvaluatedModel, type EvaluationEvent, finishedTrials, planTrials } from '../evaluate.ts'
import { type EvaluationResult, summarise } from '../evaluation.ts'
import type { Store } from '../evaluation-store.ts'
import type { TrialRecord } from '../journal.ts'
import type { TrialSettings } from '../run-trial.ts'
import { runTrials } from '../run-trials.ts'
import type { ArmName, TrainConfigEvent } from './train-config.ts'

/** Tries the test tasks, model by model. */
export interface Measuring {
  (arm: ArmName): Promise<number>
  result: () => EvaluationResult
}

/** Tries the test tasks with the model as it is at the time. Returns the seconds that this takes. */
export function measuring({
  config,
  test,
  arms,
  settings,
  store,
  emit,
}: {
  config: AgogeConfig
  test: readonly FileTask[]
  arms: readonly EvaluatedModel[]
  settings: TrialSettings
  store: Store
  emit: (event: TrainConfigEvent) => void
}): Measuring {
  const { trials = 1, concurrency = 8 } = config
  const all = new Map<string, TrialRecord>()
  const measure = async (arm: ArmName): Promise<number> => {
    const specs = planTrials(
      test,
      arms.filter(({ name }) => name === arm),
      trials,
    )
    const records = finishedTrials(specs, store.journal)
    await runTrials(specs, {
      settings,
      concurrency,
      keepEpisode: store.keepEpisode,
      records,
      emit: (event: EvaluationEvent) => {
        if (event.type !== 'trial') return
        const { record, done, total } = event
        emit({ type: 'trial', arm, record, done, total })
      },
    })
    for (const [id, record] of records) all.set(id, record)
    return [...records.values()].reduce((sum, { seconds }) => sum + seconds, 0) / concurrency
  }
  return Object.assign(measure, {
    result: () =>
      summarise([...all.values()], {
        models: arms.map(({ name, price }) => ({ name, hasPrice: price !== undefined })),
        tasks: test.length,
        trials,
        spent: settings.budget.spent(),
      }),
  })
}
