import { AgogeError } from '../../error.ts'
import { type AnyVector, createVectorEnvironment } from './vector.ts'
import { asyncVectorFrom } from './async-vector-from.ts'
import type { AsyncEnvironment, Environment } from './environment.ts'
import { objectDefinition, type ObjectVectorOptions } from './object-envs.ts'
import { claimEach, vectorFrom } from './vector-from.ts'
import type { EnvironmentDefinition } from './definition.ts'

/** A user's own environment, whose calls answer at once or with promises. */
export type AnyEnvironment = Environment | AsyncEnvironment

/** Makes the object with an index. */
export type EnvironmentFactory = (envIndex: number) => AnyEnvironment | Promise<AnyEnvironment>

/** All that can be trained and played in: a definition, an object with `reset` and `step`, or a function that makes such objects. */
export type Playable = EnvironmentDefinition | AnyEnvironment | EnvironmentFactory

/** Whether it is a definition, not an object with `reset` and `step` or a function that makes them. */
export const isEnvironmentDefinition = (given: Playable): given is EnvironmentDefinition =>
  typeof given !== 'function' && !('observationSpace' in given)

export type OpenedVector = AnyVector & { close(): void | Promise<void> }

/**
 * A vector of anything that can be played in, not yet reset. Objects are made here, and closed by `close` where a factory made
 * them. They are stepped at once where the first one's `reset` answers at once (it is called to find that out), else by
 * promises, all of them at the same time.
 *
 * @throws AgogeError `bad-argument` for more environments than there are objects and for a function that gives one of them twice, `not-an-environment`, and all that `vectorFrom` throws
 */
export async function openVector(
  playable: Playable,
  { numEnvs, ...options }: ObjectVectorOptions & { numEnvs: number },
): Promise<OpenedVector> {
  if (isEnvironmentDefinition(playable)) {
    const vector = createVectorEnvironment(playable, { numEnvs, ...options })
    return { ...vector, close: () => {} }
  }
  const isFactory = typeof playable === 'function'
  if (!isFactory && numEnvs !== 1) {
    throw new AgogeError(`one object cannot be ${numEnvs} environments`, {
      code: 'bad-argument',
      given: `${numEnvs} environments`,
      expected: '1, or a function that makes an object for each',
      hint: 'give () => new MyEnvironment() instead of the object',
    })
  }
  const made = await Promise.all(
    Array.from({ length: numEnvs }, async (_, i) => (isFactory ? playable(i) : playable)),
  )
  const [first] = made
  objectDefinition(first)
  const release = isFactory ? claimEach(made) : undefined
  try {
    const answer: unknown = first.reset({})
    const waits = typeof (answer as Promise<unknown> | undefined)?.then === 'function'
    await answer
    const vector = waits
      ? await asyncVectorFrom((i) => made[i], numEnvs, options)
      : vectorFrom((i) => made[i] as Environment, numEnvs, options)
    return {
      ...vector,
      close() {
        release?.()
        return isFactory ? vector.close() : undefined
      },
    }
  } catch (error) {
    release?.()
    throw error
  }
}
