import { AgogeError } from '../../error.ts'
import type { VectorEnvironment } from '../vector.ts'
import { wrapVector } from './wrap-vector.ts'

/**
 * Truncates every episode after `maxSteps` steps, also one that terminates in that very step. For worlds and objects the
 * `maxSteps` of their own options does the same.
 */
export function timeLimit<E extends VectorEnvironment>(env: E, maxSteps: number): E {
  if (!Number.isSafeInteger(maxSteps) || maxSteps < 1) {
    throw new AgogeError('a time limit is a number of steps', {
      code: 'bad-argument',
      given: maxSteps,
      expected: 'a positive integer',
    })
  }
  const { lengths, truncated, world } = env
  return wrapVector(
    env,
    { world: { ...world, maxSteps: Math.min(maxSteps, world.maxSteps ?? Infinity) } },
    {
      arrays: () => ({}),
      step() {
        for (let i = 0; i < lengths.length; i++)
          if (lengths[i] >= maxSteps && truncated[i] === 0) env.truncate(i)
      },
    },
  )
}
