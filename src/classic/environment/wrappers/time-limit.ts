import { AgogeError } from '../../../error.ts'
import type { AnyVector } from '../any-vector.ts'
import { wrapVector } from './wrap-vector.ts'

/**
 * Truncates every episode after `maxSteps` steps, also one that terminates in that very step. For environments and objects the
 * `maxSteps` of their own options does the same.
 */
export function timeLimit<E extends AnyVector>(env: E, maxSteps: number): E {
  if (!Number.isSafeInteger(maxSteps) || maxSteps < 1) {
    throw new AgogeError('a time limit is a number of steps', {
      code: 'bad-argument',
      given: maxSteps,
      expected: 'a positive integer',
    })
  }
  const { lengths, truncated, definition } = env

  /** One after the other, as an environment of promises takes one call at a time. */
  function cutFrom(envIndex: number): void | Promise<void> {
    for (let i = envIndex; i < lengths.length; i++) {
      if (lengths[i] < maxSteps || truncated[i] === 1) continue
      const cutting = env.truncate(i)
      if (cutting instanceof Promise) return cutting.then(() => cutFrom(i + 1))
    }
  }

  return wrapVector(
    env,
    { definition: { ...definition, maxSteps: Math.min(maxSteps, definition.maxSteps ?? Infinity) } },
    {
      arrays: () => ({}),
      step: () => cutFrom(0),
    },
  )
}
