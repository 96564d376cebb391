import { isWorld, openVector } from '../../environment/index.ts'
import type { OpenedVector } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import type { ArrayTrainOptions, EvaluationSettings } from './types.ts'

/**
 * What a run trains in, and its options with the defaults filled in.
 *
 * @throws AgogeError `bad-argument` for no number of steps, and for one object that should be more.
 */
export async function openTraining(options: ArrayTrainOptions): Promise<{
  environment: OpenedVector
  slots: number
  seed: number
  evaluate: Required<EvaluationSettings>
}> {
  const { world, steps, seed = 0, contextFor } = options
  const name = world.name ?? 'an environment'
  if (!(steps >= 1 && steps < Infinity)) {
    throw new AgogeError(`A run on ${name} cannot have ${steps} steps`, {
      code: 'bad-argument',
      given: steps,
      expected: 'a number of at least 1',
    })
  }
  const isSingle = typeof world !== 'function' && !isWorld(world)
  const { slots = isSingle ? 1 : 8 } = options
  const evaluate = {
    episodes: options.evaluate?.episodes ?? 100,
    every: options.evaluate?.every ?? (isSingle ? 0 : Math.ceil((Math.ceil(steps / slots) * slots) / 10)),
    during: options.evaluate?.during ?? 20,
  }
  if (isSingle && evaluate.every > 0) {
    throw new AgogeError(`${name} is one object, which cannot be evaluated while it is trained on`, {
      code: 'bad-argument',
      given: `an evaluation every ${evaluate.every} steps`,
      expected: 'evaluate.every of 0, or a function that makes environments',
    })
  }
  const environment = await openVector(world, {
    slots,
    seed,
    ...(contextFor === undefined ? {} : { contextFor }),
  })
  return { environment, slots, seed, evaluate }
}
