import { rowSize } from '../space.ts'
import type { ArraySpace } from '../space.ts'
import type { NumberArray } from '../space-rows.ts'
import type { AnyVector } from '../any-vector.ts'
import { wrapVector } from './wrap-vector.ts'

/** Writes a row of the new observations, at `to[toAt]`, out of a row of the old ones, at `from[fromAt]`. */
export type WriteRow = (
  from: Float32Array,
  fromAt: number,
  to: Float32Array,
  toAt: number,
  envIndex: number,
) => void

/** How observations are changed. */
export interface ObservationRule {
  /** The row of an observation that follows another of the same episode, whose new row is still in `observations`. */
  next: WriteRow
  /** The row of the first observation of an episode. Default: `next`. */
  first?: WriteRow
  /** Is shown the old rows before new ones are made of them; with `which`, those where it is 1. */
  seen?: (rows: Float32Array, which: Uint8Array | undefined) => void
  /** Arrays of its own, saved with the state. */
  arrays?: Readonly<Record<string, NumberArray>>
}

/**
 * The common part of wrappers that change observations: every observation of an episode passes the rule once and in order,
 * under all three modes of autoreset, the last one of an episode before the first of the next.
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

  /** The last observations of episodes whose slots have already begun again. */
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
