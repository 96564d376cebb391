import { AgogeError } from '../../error.ts'
import { type AnyVector, createVectorEnvironment } from './vector.ts'
import { asyncVectorFrom } from './async-vector-from.ts'
import type { AsyncEnvironment, Environment } from './environment.ts'
import { objectDefinition, type ObjectVectorOptions } from './object-envs.ts'
import { claimEach, vectorFrom } from './vector-from.ts'
import type { EnvironmentDefinition } from './definition.ts'

/** An environment of the user. Its calls return results or promises. */
export type AnyEnvironment = Environment | AsyncEnvironment

/** Makes the object of environment `envIndex`. */
export type EnvironmentFactory = (envIndex: number) => AnyEnvironment | Promise<AnyEnvironment>

/**
 * Everything that agents can be trained and evaluated in: a definition, an object with `reset` and `step`, or a
 * function that makes such objects.
 */
export type Playable = EnvironmentDefinition | AnyEnvironment | EnvironmentFactory

/** Whether it is a definition, not an object with `reset` and `step` or a function that makes them. */
export const isEnvironmentDefinition = (given: Playable): given is EnvironmentDefinition =>
  typeof given !== 'function' && !('observationSpace' in given)

/** A vector that `openVector` has made. Call `close` after use. */
export type OpenedVector = AnyVector & { close(): void | Promise<void> }

/**
 * Makes a vector of anything playable. Call `reset` before the first `step`. It calls the `reset` of the first
 * object once, to find out whether calls return promises. If they do, all environments are stepped
 * concurrently. `close` closes the objects that a factory made.
 *
 * @throws AgogeError `bad-argument` for several environments of a single object, and for a factory that returns
 * the same object twice; `not-an-environment`; all that `vectorFrom` throws
 */
export async function openVector(
  playable: Playable,
  { numEnvs, ...options }: ObjectVectorOptions & { numEnvs: number },
): Promise<OpenedVector> {
  if (isEnvironmentDefinition(playable)) {
    await playable.load?.()
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
