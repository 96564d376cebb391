import { AgogeError } from '../error.ts'
import type { Environment, Info } from './environment.ts'
import { createObjectSlots } from './object-slots.ts'
import type { ObjectSlots, ObjectVectorOptions } from './object-slots.ts'
import { requireOneEach } from './one-each.ts'
import { restoreArrays, saveArrays } from './stored-arrays.ts'
import type { VectorEnvironment, VectorState } from './vector.ts'

/** A vector of users' objects. */
export interface ObjectVector extends VectorEnvironment {
  /** [slots]: what was said with the rows of `observations` and of `finalObservations`. */
  readonly infos: readonly (Info | undefined)[]
  readonly finalInfos: readonly (Info | undefined)[]
  close(): void
}

/**
 * `count` objects as one vector environment, stepped one after the other: whatever takes a VectorEnvironment takes it.
 * Autoreset, time limit and counts are those of a vector of worlds. Nothing is known of the objects' insides, so `world`
 * has their spaces only, and `state()` needs theirs.
 *
 * @throws AgogeError here or later: `not-an-environment`, `bad-step`, `shape-mismatch`, `not-a-number`, `not-in-space`,
 * naming the environment, the slot, the step and the field.
 */
export function vectorFrom(
  makeEnv: (slot: number) => Environment,
  count: number,
  options: ObjectVectorOptions = {},
): ObjectVector {
  const environments = Array.from({ length: count }, (_, i) => makeEnv(i))
  requireOneEach(environments)
  const slots = createObjectSlots(environments[0], count, options)
  const { arrays, ended } = slots
  let begun = false

  function begin(i: number): void {
    const result = calling(`${arrays.world.name}, slot ${i}: reset`, () =>
      environments[i].reset(slots.resetOptions(i)),
    )
    slots.began(i, environments[i], result)
  }

  return {
    ...arrays,
    infos: slots.infos,
    finalInfos: slots.finalInfos,
    reset({ seed, mask } = {}) {
      if (seed !== undefined) slots.reseed(seed)
      for (let i = 0; i < count; i++) {
        if (mask !== undefined && mask[i] !== 1) continue
        begin(i)
        slots.startCount(i)
      }
      begun = true
    },
    step() {
      if (!begun) throw notBegun(arrays.world.name)
      for (let i = 0; i < count; i++) {
        if (ended[i] === 1) {
          if (arrays.autoreset === 'disabled') throw slots.notReset(i)
          slots.startCount(i)
          if (arrays.autoreset === 'next-step') {
            begin(i)
            continue
          }
        }
        const result = calling(`${arrays.world.name}, slot ${i}, step ${arrays.lengths[i] + 1}: step`, () =>
          environments[i].step(slots.action(i) as never),
        )
        if (slots.stepped(i, environments[i], result) && arrays.autoreset === 'same-step') begin(i)
      }
    },
    truncate(i) {
      arrays.truncated[i] = 1
      if (ended[i] === 1) return
      slots.end(i)
      if (arrays.autoreset === 'same-step') begin(i)
    },
    state: () => objectState(slots, environments),
    restore(state) {
      restoreObjects(slots, environments, state)
      begun = true
    },
    close() {
      for (const environment of environments) environment.close?.()
    },
  }
}

/** What a call gives; what it throws, with the place where. */
function calling<T>(where: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw AgogeError.isInstance(error) ? error : threw(where, error)
  }
}

/** An error of a user's own code, told with the place. */
export function threw(where: string, cause: unknown): AgogeError {
  return new AgogeError(
    `${where} threw ${cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)}`,
    {
      code: 'environment-threw',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'what the call promises, or an episode that ends',
      hint: 'The stack of the environment is under `cause`; on the command line, --debug shows it',
      cause,
    },
  )
}

type Resumable = Pick<Environment, 'state' | 'restore'>

/** The state of a vector of objects, each of which has to have its own. */
export function objectState(slots: ObjectSlots, environments: readonly Resumable[]): VectorState {
  return {
    arrays: saveArrays(slots.stored),
    streams: environments.map((environment) => {
      if (environment.state === undefined || environment.restore === undefined)
        throw notResumable(slots.arrays.world.name)
      return environment.state()
    }),
    episodes: [...slots.episodes],
  }
}

export function restoreObjects(
  slots: ObjectSlots,
  environments: readonly Resumable[],
  state: VectorState,
): void {
  restoreArrays(slots.arrays.world.name, slots.stored, state.arrays)
  environments.forEach((environment, i) => {
    if (environment.restore === undefined) throw notResumable(slots.arrays.world.name)
    environment.restore(state.streams[i])
    slots.episodes[i] = state.episodes[i]
  })
}

export function notBegun(name: string): AgogeError {
  return new AgogeError(`${name} was stepped before it was reset`, {
    code: 'reset-needed',
    hint: 'call reset() first',
  })
}

function notResumable(name: string): AgogeError {
  return new AgogeError(`${name} cannot be saved and continued`, {
    code: 'not-resumable',
    given: 'an environment without state() and restore()',
    expected: 'both, with everything that the rest of an episode depends on',
  })
}
