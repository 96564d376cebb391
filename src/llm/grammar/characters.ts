import type { Algebra, Expression } from './expression.ts'

/** Code points, both ends included. */
export type Range = readonly [number, number]

/** All characters of Unicode; surrogates are none. */
export const anyCharacter: readonly Range[] = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
]

/** What is in the first and not in the second. */
export function without(from: readonly Range[], taken: readonly Range[]): Range[] {
  return taken.reduce<Range[]>(
    (left, [low, high]) =>
      left.flatMap(([a, b]) =>
        high < a || low > b
          ? [[a, b] as const]
          : [[a, low - 1] as const, [high + 1, b] as const].filter(([x, y]) => x <= y),
      ),
    [...from],
  )
}

const overlap = (a: readonly Range[], b: readonly Range[]): Range[] => without(a, without(anyCharacter, b))

/** One character of these ranges as UTF-8. */
export function utf8(algebra: Algebra, ranges: readonly Range[]): Expression {
  const edges = [0x7f, 0x7ff, 0xffff, 0x10ffff]
  const lengths = edges.map((edge, i): Range => [i === 0 ? 0 : edges[i - 1] + 1, edge])
  const parts = overlap(ranges, anyCharacter).flatMap((range) =>
    lengths.flatMap((length) => {
      const low = Math.max(range[0], length[0])
      const high = Math.min(range[1], length[1])
      return low > high ? [] : [between(algebra, encode(low), encode(high))]
    }),
  )
  return algebra.choice(...parts)
}

const encode = (code: number): number[] => [...new TextEncoder().encode(String.fromCodePoint(code))]

/** Byte strings of the same length from one to another, whose bytes after the first go from 80 to bf (in hexadecimal). */
function between(algebra: Algebra, low: readonly number[], high: readonly number[]): Expression {
  const { bytes, sequence, choice } = algebra
  if (low.length === 1) return bytes([low[0], high[0]])
  const [lowRest, highRest] = [low.slice(1), high.slice(1)]
  const first = lowRest.map(() => 0x80)
  const last = lowRest.map(() => 0xbf)
  const headed = (head: number, from: readonly number[], to: readonly number[]): Expression =>
    sequence(bytes([head, head]), between(algebra, from, to))
  if (low[0] === high[0]) return headed(low[0], lowRest, highRest)
  const middle =
    low[0] + 1 > high[0] - 1
      ? algebra.nothing
      : sequence(bytes([low[0] + 1, high[0] - 1]), between(algebra, first, last))
  return choice(headed(low[0], lowRest, last), middle, headed(high[0], first, highRest))
}

const escaped: Range[] = [
  [0, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
]

/** One character of these ranges as `JSON.stringify` writes it inside of a string. */
export function jsonCharacter(algebra: Algebra, ranges: readonly Range[]): Expression {
  const plain = utf8(algebra, without(ranges, escaped))
  const escapes = overlap(escaped, ranges).flatMap(([low, high]) =>
    Array.from({ length: high - low + 1 }, (_, i) =>
      algebra.text(JSON.stringify(String.fromCharCode(low + i)).slice(1, -1)),
    ),
  )
  return algebra.choice(plain, ...escapes)
}
