import type { Task } from '../agent/types.ts'
import type { PolicyUpdate } from '../algorithm/types.ts'
import { AgogeError } from '../../error.ts'
import { forwardBackward } from '../backend/custom-loss.ts'
import type { CustomLossReport } from '../backend/custom-loss.ts'
import type { OptimReport, OptimStep } from '../model-backend.ts'
import type { Job } from './job.ts'
import { currentCheckpoint } from './state.ts'

/**
 * One update of the weights. From its optimiser step on the job is not settled: the weights are ahead of the state.
 *
 * @param episodes whose ids are told where the loss is no number.
 * @throws AgogeError `non-finite-loss` naming the batch where loss or gradient are not finite. The checkpoints are those from
 *   before.
 */
export async function applyUpdate<T extends Task>(
  job: Job<T>,
  update: Pick<PolicyUpdate, 'sequences' | 'loss'>,
  step: OptimStep,
  episodes: () => readonly string[],
): Promise<CustomLossReport & OptimReport> {
  const { backend, signal } = job
  const abort = signal === undefined ? {} : { signal }
  const named = async (error: unknown): Promise<never> => {
    const known = AgogeError.isInstance(error) && nonFinite.includes(error.code)
    throw known ? await diverged(job, error.message, episodes(), error) : error
  }
  const report = await forwardBackward(backend, update.sequences, update.loss, abort).catch(named)
  job.settled = false
  const { gradientNorm } = await backend.optimStep(step).catch(named)
  // A norm that nobody tells says nothing about the gradient.
  if (gradientNorm !== undefined && !Number.isFinite(gradientNorm))
    throw await diverged(job, `The gradient's norm is ${gradientNorm}`, episodes())
  return { ...report, gradientNorm }
}

/** What backends call it. */
const nonFinite = ['non-finite-loss', 'gradient-not-finite']

/** Ids in the message; `given` has all of them. */
const shown = 8

async function diverged<T extends Task>(
  job: Job<T>,
  what: string,
  episodes: readonly string[],
  cause?: AgogeError,
): Promise<AgogeError> {
  const { state, folder } = job
  // Weights that no update has touched since the last step are good, and worth more than older ones.
  if (job.settled && state.step > 0) await job.checkpoint()
  const kept = currentCheckpoint(folder)
  const more = episodes.length > shown ? ` and ${episodes.length - shown} more` : ''
  return new AgogeError(
    `Training stopped in step ${state.step + 1} of ${state.phase}. ${what}. The batch: ${episodes.slice(0, shown).join(', ')}${more}`,
    {
      code: 'non-finite-loss',
      given: { phase: state.phase, step: state.step + 1, episodes },
      expected: 'a loss and a gradient that are finite numbers',
      hint: `${kept === null ? 'No checkpoint was written yet' : `The last good weights are in ${folder.file('checkpoints', kept)}`}; lower the learning rate or clip the gradient in a new run`,
      ...(cause === undefined ? {} : { cause }),
    },
  )
}
