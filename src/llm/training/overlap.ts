import type { Task } from '../agent/types.ts'
import { AgogeError } from '../../error.ts'
import type { Job } from './job.ts'
import type { TrainableBackend, TrainingPlan } from './types.ts'

/**
 * @throws AgogeError `bad-plan` where sampling and training are to overlap but no batch may be stale; `unsupported-overlap` where the backend cannot
 *   sample while it trains.
 */
export function checkOverlap({ reinforcement }: TrainingPlan, backend: TrainableBackend): void {
  const { overlap = false, maxStaleness = 0 } = reinforcement
  if (!overlap) return
  if (maxStaleness < 1) {
    throw new AgogeError('Sampling and training can overlap only where batches may be stale', {
      code: 'bad-plan',
      given: { overlap, maxStaleness },
      expected: 'maxStaleness of 1 or more',
      hint: 'maxStaleness: 1 keeps sampler and trainer busy as long as both take about the same time',
    })
  }
  if (backend.freeze === undefined) {
    throw new AgogeError('This backend cannot sample while it trains', {
      code: 'unsupported-overlap',
      given: { overlap },
      expected: 'a backend with `freeze`, as createLocalBackend and createTinkerBackend make them',
      hint: 'Train without overlap: maxStaleness alone has the same batches, one thing after another',
    })
  }
}

/** The job as it is now, sampling with the weights of now, whatever becomes of them and of its state. */
export async function freezeJob<T extends Task>(job: Job<T>, stop: AbortSignal): Promise<Job<T>> {
  const { backend, state, signal } = job
  const { sample, weightVersion } = await backend.freeze!()
  const frozen = Object.create(backend, {
    sample: { value: sample },
    weightVersion: { value: weightVersion },
    // Its cache began empty.
    clearCache: { value: () => {} },
  }) as TrainableBackend
  return {
    ...job,
    backend: frozen,
    state: { ...state },
    signal: signal === undefined ? stop : AbortSignal.any([signal, stop]),
  }
}
