import { AgogeError } from '../../../../error.ts'
import { uniformAt } from '../../../../engine/random/index.ts'

/** The feature `layout`, alike in all environments that generate something from a number. */
export const layoutFeature = {
  default: 0,
  low: 0,
  high: 9999,
  extrapolate: [0, 19_999],
  integer: true,
  about: 'number from which the layout is generated',
} as const

/**
 * A draw from 0 to n - 1 that depends on nothing but its arguments: what layouts are made of. `purpose` keeps draws for
 * different things apart, `counter` those for one.
 */
export const drawAt = (layout: number, purpose: number, counter: number, n: number): number =>
  Math.floor(uniformAt(layout, purpose, counter) * n)

/** A feature that sizes something. Throws `bad-context` unless it is a whole number in the range. */
export function wholeFeature(value: number, low: number, high: number, name: string): number {
  if (Number.isInteger(value) && value >= low && value <= high) return value
  throw new AgogeError(`the context feature ${name} is out of range`, {
    code: 'bad-context',
    given: value,
    expected: `a whole number from ${low} to ${high}`,
  })
}
