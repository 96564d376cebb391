import type { NumberArray } from '../space-values.ts'
import { type ArraySpace, rowSize } from '../space.ts'
import { afterwards, type AnyVector, restoreArrays, saveArrays, type VectorState } from '../vector.ts'

/** Where episodes begin and end in the rows that a step has written. */
interface Boundaries {
  /** [numEnvs]: 1 where the row of `observations` is the first of an episode. */
  readonly first: Uint8Array
  /** [numEnvs]: 1 where an episode has just ended. Its last observation is in the row of `finalObservations`. */
  readonly last: Uint8Array
}

/**
 * The hooks of a wrapper around the calls of the inner vector. Hooks write the wrapper's own arrays and
 * allocate nothing.
 */
interface Hooks {
  /** Arrays by name that persist between calls. They are saved with the state. */
  arrays: () => Readonly<Record<string, NumberArray>>
  /** Replaces the default restore, which copies saved bytes into these arrays. */
  restore?: (saved: Readonly<Record<string, ArrayBuffer>>) => void
  /** Runs after new episodes have begun: in all environments, or where `mask` is 1. */
  reset?: (mask: Uint8Array | undefined, boundaries: Boundaries) => void
  /** Runs before the inner step. `first` marks the rows whose episode this step only begins (`next-step`). */
  before?: (boundaries: Boundaries) => void
  /** Runs after the inner step. */
  step?: (boundaries: Boundaries) => void | Promise<void>
  /** Runs after `truncate` has ended the episode of an environment. */
  truncate?: (envIndex: number) => void
}

/**
 * Wraps a vector: replaces some fields and runs hooks around its calls. If a call returns a promise, the hooks
 * wait for it. All wrappers use this function. It handles the three modes of autoreset and saves the state.
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

/** Writes a row of new observations to `to[toAt...]`, from a row of old ones at `from[fromAt...]`. */
export type WriteRow = (
  from: Float32Array,
  fromAt: number,
  to: Float32Array,
  toAt: number,
  envIndex: number,
) => void

/** How observations are transformed. */
interface ObservationRule {
  /** Transforms an observation that follows another one of the same episode, whose new row is still in `observations`. */
  next: WriteRow
  /** Transforms the first observation of an episode. Default: `next`. */
  first?: WriteRow
  /** Receives the old rows before they are transformed. With `which`, only the rows where it is 1. */
  seen?: (rows: Float32Array, which: Uint8Array | undefined) => void
  /** Arrays of the transformation, saved with the state. */
  arrays?: Readonly<Record<string, NumberArray>>
}

/**
 * Wraps a vector with transformed observations. Transforms every observation of an episode once and in order,
 * in all three modes of autoreset. The last observation of an episode comes before the first one of the next.
 */
export function wrapObservations<E extends AnyVector>(
  env: E,
  makeRule: (observations: Float32Array) => ObservationRule,
  space: ArraySpace,
): E {
  const count = env.rewards.length
  const innerWidth = rowSize(env.definition.observation)
  const width = rowSize(space)
  const observations = new Float32Array(count * width)
  const finalObservations = new Float32Array(count * width)
  const { next, first = next, seen, arrays = {} } = makeRule(observations)
  const inner = env.observations
  const sameStep = env.autoreset === 'same-step'
  const onlyOne = new Uint8Array(count)

  const keepLast = (i: number): void => {
    for (let k = i * width; k < (i + 1) * width; k++) finalObservations[k] = observations[k]
  }

  /** The last observations of episodes whose environments have already begun the next one. */
  const writeLast = (last: Uint8Array): void => {
    if (!last.includes(1)) return
    seen?.(env.finalObservations, last)
    for (let i = 0; i < count; i++)
      if (last[i] === 1) next(env.finalObservations, i * innerWidth, finalObservations, i * width, i)
  }

  return wrapVector(
    env,
    { observations, finalObservations, definition: { ...env.definition, observation: space } },
    {
      arrays: () => ({ ...arrays, observations, finalObservations }),
      reset(mask) {
        seen?.(inner, mask)
        for (let i = 0; i < count; i++)
          if (mask === undefined || mask[i] === 1) first(inner, i * innerWidth, observations, i * width, i)
      },
      step(boundaries) {
        if (sameStep) writeLast(boundaries.last)
        seen?.(inner, undefined)
        for (let i = 0; i < count; i++) {
          const write = boundaries.first[i] === 1 ? first : next
          write(inner, i * innerWidth, observations, i * width, i)
          if (boundaries.last[i] === 1 && !sameStep) keepLast(i)
        }
      },
      truncate(i) {
        keepLast(i)
        if (!sameStep) return
        onlyOne[i] = 1
        seen?.(inner, onlyOne)
        onlyOne[i] = 0
        first(inner, i * innerWidth, observations, i * width, i)
      },
    },
  )
}
