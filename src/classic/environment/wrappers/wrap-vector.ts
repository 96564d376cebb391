import type { NumberArray } from '../space-rows.ts'
import { restoreArrays, saveArrays } from '../stored-arrays.ts'
import { afterwards } from '../any-vector.ts'
import type { AnyVector } from '../any-vector.ts'
import type { VectorState } from '../vector.ts'

/** Where episodes begin and end in the rows that a step has written. */
export interface Boundaries {
  /** [slots]: 1 where the row of `observations` is the first of an episode. */
  readonly first: Uint8Array
  /** [slots]: 1 where an episode has just ended, with the row of `finalObservations`. */
  readonly last: Uint8Array
}

/** What a wrapper does around the calls of the environment inside. It writes arrays of its own and allocates nothing. */
export interface Hooks {
  /** Arrays that are kept from call to call, by name; they are saved with the state. */
  arrays: () => Readonly<Record<string, NumberArray>>
  /** Instead of copying saved bytes into these arrays. */
  restore?: (saved: Readonly<Record<string, ArrayBuffer>>) => void
  /** After new episodes were begun: everywhere, or where `mask` is 1. */
  reset?: (mask: Uint8Array | undefined, boundaries: Boundaries) => void
  /** Before the step of the environment inside; `first` tells which rows it will begin, where ended slots wait a step. */
  before?: (boundaries: Boundaries) => void
  /** After the step of the environment inside. */
  step?: (boundaries: Boundaries) => void | Promise<void>
  /** After the slot's episode, which the step had not ended, was cut short. */
  truncate?: (envIndex: number) => void
}

/**
 * An environment that does what `env` does, with some fields replaced and with hooks around its calls, which wait for those
 * that give promises. The common part of all wrappers: it knows the three modes of autoreset and saves the state.
 */
export function wrapVector<E extends AnyVector>(
  env: E,
  changed: Partial<Omit<AnyVector, 'reset' | 'step' | 'truncate'>>,
  hooks: Hooks,
): E {
  const count = env.rewards.length
  const first = new Uint8Array(count)
  const last = new Uint8Array(count)
  const boundaries: Boundaries = { first, last }
  const { terminated, truncated, autoreset } = env

  function stepped(): void | Promise<void> {
    for (let i = 0; i < count; i++) {
      last[i] = terminated[i] | truncated[i]
      if (last[i] === 1 && autoreset === 'same-step') first[i] = 1
    }
    return hooks.step?.(boundaries)
  }

  const wrapped: AnyVector = {
    ...env,
    ...changed,
    reset(options) {
      return afterwards(env.reset(options), () => {
        const mask = options?.mask
        for (let i = 0; i < count; i++) {
          first[i] = mask === undefined || mask[i] === 1 ? 1 : 0
          last[i] = 0
        }
        hooks.reset?.(mask, boundaries)
      })
    },
    step(options) {
      for (let i = 0; i < count; i++)
        first[i] = autoreset === 'next-step' && (terminated[i] | truncated[i]) === 1 ? 1 : 0
      hooks.before?.(boundaries)
      return afterwards(env.step(options), stepped)
    },
    truncate(envIndex) {
      const over = (terminated[envIndex] | truncated[envIndex]) === 1
      return afterwards(env.truncate(envIndex), () => {
        if (!over) hooks.truncate?.(envIndex)
      })
    },
    state: () => ({
      arrays: saveArrays(hooks.arrays()),
      streams: [],
      episodes: [],
      inner: env.state(),
    }),
    restore(state) {
      env.restore(state.inner as VectorState)
      if (hooks.restore !== undefined) hooks.restore(state.arrays)
      else restoreArrays(env.definition.name, hooks.arrays(), state.arrays)
    },
  }
  return wrapped as E
}
