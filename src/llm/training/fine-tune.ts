import { supervised, trainedTokens } from '../algorithm/supervised.ts'
import { AgogeError } from '../../error.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import type { Episode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import type { OptimiserSettings, TrainingPart } from './kernel.ts'
import { hashOf, runTraining, settingsOf, validationOf } from './run.ts'
import type { RunOptions, ValidationOptions } from './run.ts'

export interface FineTuneOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  backend: ModelBackend & { resetOptimizer?: () => void }
  /** Failed and masked episodes are left out. */
  demonstrations: readonly Episode[]
  epochs: number
  /** Demonstrations per step. */
  batch: number
  seed: number
}

/**
 * Supervised fine-tuning: cross-entropy on demonstrations (`demonstrateAgent`), in seeded order.
 *
 * @returns the loss of each step, in nats per token.
 * @throws AgogeError `unsolvable-task` if no demonstration succeeded, and as `runTraining` does.
 * @example
 * const losses = await fineTune({ backend, demonstrations, epochs: 4, batch: 16, learningRate: 1e-3, seed: 0, out: 'runs/sft' })
 */
export async function fineTune(options: FineTuneOptions): Promise<number[]> {
  const { backend, demonstrations, epochs, batch, seed } = options
  const good = demonstrations.filter(({ success }) => success === true)
  if (good.length === 0) {
    throw new AgogeError('There is nothing to train on: no demonstration succeeded.', {
      code: 'unsolvable-task',
      given:
        demonstrations.find(({ error }) => error !== undefined)?.error ??
        `${demonstrations.length} that failed`,
      expected: 'a teacher whose episodes the judge accepts',
    })
  }
  const part = supervisedPart({
    name: 'fine-tune',
    backend,
    steps: epochs * Math.ceil(good.length / batch),
    episodes: good,
    orderOf: (epoch) => createRandom(seed, 'imitate', epoch),
    settings: options,
  })
  const { records } = await runTraining(
    { ...part, validation: validationOf(options) },
    {
      ...options,
      models: { model: backend },
      settings: { ...settingsOf(options), demonstrations: hashOf(good.map(({ id, nodes }) => [id, nodes])) },
    },
  )
  // The optimiser's moments do not fit the next objective.
  backend.resetOptimizer?.()
  return records.flatMap(({ phase, metrics }) => (phase === part.name ? [metrics['loss']] : []))
}

/** Cross-entropy on episodes. Each epoch shuffles them and uses each once. */
export function supervisedPart({
  name,
  backend,
  steps,
  progress,
  episodes,
  orderOf,
  settings,
}: {
  name: string
  backend: ModelBackend
  steps: number | null
  progress?: () => number
  episodes: readonly Episode[]
  /** The random stream of an epoch's order. */
  orderOf: (epoch: number) => Random
  settings: OptimiserSettings & { batch: number }
}): TrainingPart<{ epoch: number; episodes: readonly Episode[] }> {
  const batches = Math.max(1, Math.ceil(episodes.length / settings.batch))
  return {
    name,
    steps,
    ...(episodes.length === 0 ? { progress: () => 1 } : progress === undefined ? {} : { progress }),
    collect(step) {
      const epoch = Math.floor(step / batches)
      const at = (step % batches) * settings.batch
      return {
        epoch,
        episodes: orderOf(epoch)
          .shuffle(episodes)
          .slice(at, at + settings.batch),
      }
    },
    async update({ epoch, episodes }, tools) {
      const started = performance.now()
      const update = supervised(episodes)
      const step = tools.schedule(settings)
      const { loss, gradientNorm } = await tools.apply(backend, update, step, () =>
        episodes.map(({ id }) => id),
      )
      const seconds = (performance.now() - started) / 1000
      return {
        loss,
        gradientNorm,
        learningRate: step.learningRate,
        epoch,
        tokens: episodes.reduce((sum, episode) => sum + trainedTokens(episode), 0),
        tokensPerSecond: update.sequences.reduce((sum, row) => sum + row.tokens.length, 0) / seconds,
      }
    },
  }
}
