import { supervised } from '../../algorithm/supervised.ts'
import { AgogeError } from '../../../error.ts'
import type { Episode } from '../../episode/types.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { optimStepAt } from '../learning-rate.ts'
import type { OptimiserSettings } from '../types.ts'

export interface FineTuneOptions extends OptimiserSettings {
  backend: ModelBackend & { resetOptimizer?: () => void }
  /** Those that failed or were masked are left out. */
  demonstrations: readonly Episode[]
  epochs: number
  /** Demonstrations in a step. */
  batch: number
  seed: number
  signal?: AbortSignal
}

/** Cross-entropy on what was shown (`demonstrateAgent`), in seeded order; returns the loss of each step. */
export async function fineTune(options: FineTuneOptions): Promise<number[]> {
  const { backend, demonstrations, epochs, batch, seed, signal } = options
  const good = demonstrations.filter(({ success }) => success === true)
  if (good.length === 0) {
    throw new AgogeError('There is nothing to imitate: no demonstration succeeded.', {
      code: 'unsolvable-task',
      given:
        demonstrations.find(({ error }) => error !== undefined)?.error ??
        `${demonstrations.length} that failed`,
      expected: 'a teacher whose episodes the judge accepts',
    })
  }
  const batches = Math.ceil(good.length / batch)
  const losses: number[] = []
  for (let step = 0; step < epochs * batches; step++) {
    const order = createRandom(seed, 'imitate', Math.floor(step / batches)).shuffle(good)
    const update = supervised(order.slice((step % batches) * batch, ((step % batches) + 1) * batch))
    const report = await backend.forwardBackward(
      update.sequences,
      update.loss,
      signal === undefined ? {} : { signal },
    )
    await backend.optimStep(optimStepAt(options, step, step / (epochs * batches)))
    losses.push(report.loss)
  }
  // Moments of this objective say nothing of the next.
  backend.resetOptimizer?.()
  return losses
}
