import type { Algebra, Expression } from './expression.ts'

/** Bounds of a number as in JSON Schema. */
export interface Bounds {
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
}

/** Most digits of a number: as many as a double can distinguish. */
const mostDigits = 15

/**
 * JSON numbers with at most 15 digits on each side of the point. Bounded ones have no exponent and 15 digits in total.
 * Undefined if a bound is not a decimal of at most 15 digits.
 */
export function numbers(algebra: Algebra, bounds: Bounds, whole: boolean): Expression | undefined {
  const { sequence, optional, repeat, bytes, choice, text, both, not } = algebra
  const digit = bytes([0x30, 0x39])
  const nonzero = bytes([0x31, 0x39])
  const point = text('.')
  const fraction = whole ? algebra.empty : optional(sequence(point, repeat(digit, 1, mostDigits)))
  const natural = choice(text('0'), sequence(nonzero, repeat(digit, 0, mostDigits - 1)))
  const magnitude = sequence(natural, fraction)
  const exponent = sequence(bytes([0x45, 0x45], [0x65, 0x65]), optional(text('-')), nonzero, optional(digit))
  const limits = Object.values(bounds).filter((value) => value !== undefined)
  const signed = choice(magnitude, sequence(text('-'), magnitude))
  if (limits.length === 0) return whole ? signed : sequence(signed, optional(exponent))

  /** Digits before the point, without leading zeros, and after it. */
  const decimal = (value: number): readonly [string, string] | undefined => {
    const found = /^(\d+)(?:\.(\d+))?$/.exec(String(Math.abs(value)))
    if (found === null || found[0].length > mostDigits + 1) return undefined
    return [found[1], found[2] ?? '']
  }

  /** Magnitudes above a decimal, or also equal to it. */
  function above([before, behind]: readonly [string, string], orEqual: boolean): Expression {
    const more = (symbol: string): Expression =>
      symbol === '9' ? algebra.nothing : bytes([symbol.charCodeAt(0) + 1, 0x39])
    /** Digit strings of the same length with a larger value, by the first place that differs. */
    const larger = choice(
      ...Array.from(before, (symbol, i) =>
        sequence(
          text(before.slice(0, i)),
          more(symbol),
          repeat(digit, before.length - 1 - i, before.length - 1 - i),
        ),
      ),
    )
    const longer = sequence(nonzero, repeat(digit, before.length, mostDigits))
    const integers = both(natural, choice(larger, longer))
    const aboveInteger = sequence(integers, fraction)
    if (whole && behind !== '') return aboveInteger
    const fractions = choice(
      ...Array.from(behind, (symbol, i) => sequence(text(behind.slice(0, i)), more(symbol), repeat(digit))),
      // The same digits, followed by one that is not 0.
      sequence(text(behind), repeat(text('0')), nonzero, repeat(digit)),
    )
    const zeros = repeat(text('0'))
    const equal =
      behind === '' ? optional(sequence(point, repeat(text('0'), 1))) : sequence(point, text(behind), zeros)
    const sameInteger = choice(sequence(point, fractions), orEqual ? equal : algebra.nothing)
    return both(magnitude, choice(aboveInteger, sequence(text(before), sameInteger)))
  }
  const minus = (magnitudes: Expression): Expression => sequence(text('-'), magnitudes)
  /** Numbers that are not below (or above) a bound. */
  const bounded: Expression[] = []
  for (const [name, value] of Object.entries(bounds) as [keyof Bounds, number | undefined][]) {
    if (value === undefined) continue
    const parts = decimal(value)
    if (parts === undefined) return undefined
    const isLeast = name === 'minimum' || name === 'exclusiveMinimum'
    const isStrict = name.startsWith('exclusive')
    const isNegative = value < 0
    if (isLeast !== isNegative) {
      // On the other side of 0: magnitudes beyond the bound.
      const beyond = above(parts, !isStrict)
      bounded.push(isNegative ? minus(beyond) : beyond)
    } else {
      const beyond = above(parts, isStrict)
      bounded.push(not(isNegative ? minus(beyond) : beyond))
    }
  }
  const all = repeat(bytes([0, 0xff]), 1, mostDigits + 1)
  // Excludes -0 and similar: they compare as 0, but are written as if below it.
  const noZero = not(minus(sequence(text('0'), optional(sequence(point, repeat(text('0')))))))
  return both(signed, noZero, all, ...bounded)
}
