import type { Task } from '../agent/types.ts'
import { train as trainOnEnvironment, type TrainOptions } from '../training/train.ts'
import type { TrainingSummary } from '../training/types.ts'
import type { AgogeConfig, ToolRules } from './config.ts'
import { startRunning } from './running.ts'
import type { RunningTraining, TrainConfigOptions } from './training/train-config.ts'

/**
 * Trains a model to be the agent of a config, and measures on test tasks that neither training nor selection saw how much better it became.
 * It starts at once; its events need not be read. The reward is the mean of the scores. Tools and environment act as in `evaluate`; a rollout
 * in which a tool or a scorer failed is masked.
 *
 * @throws AgogeError (by `result` and by the iterator) for a config, tasks or models that cannot be used; `nothing-to-learn` if no group of
 *   the first steps has rollouts of different reward; and as `evaluate` and `trainAgent` do.
 * @example
 * const { evaluation, folder } = await train(config, { steps: 60 }).result
 */
export function train<Output, Tools extends ToolRules>(
  config: AgogeConfig<Output, Tools>,
  options?: TrainConfigOptions,
): RunningTraining
/**
 * Trains the small local model on an environment and measures the improvement: evaluates the base model, the warm start and the
 * result of reinforcement learning on the same held-out tasks. The run folder gets metrics, episodes, checkpoints and a report.
 *
 * @example
 * const summary = await train({ environment: await createFilesystemEnvironment(), tasks: filesystemTasks })
 */
export function train<T extends Task>(options: TrainOptions<T>): Promise<TrainingSummary>
export function train(
  given: AgogeConfig | TrainOptions,
  options?: TrainConfigOptions,
): RunningTraining | Promise<TrainingSummary> {
  return 'agent' in given ? trainOnConfig(given, options) : trainOnEnvironment(given)
}

/** Loaded when it is called: programs that train on an environment do without. */
function trainOnConfig(config: AgogeConfig, options: TrainConfigOptions | undefined): RunningTraining {
  return startRunning(async (emit) => {
    const { trainConfig } = await import('./training/train-config.ts')
    const running = trainConfig(config, options)
    for await (const event of running) emit(event)
    return running.result
  })
}
