import { AgogeError } from '../../error.ts'
import type { Algebra, Expression } from './expression.ts'

/** Code points, both ends included. */
type Range = readonly [number, number]

/** All Unicode characters except surrogates. */
export const anyCharacter: readonly Range[] = [
  [0, 0xd7ff],
  [0xe000, 0x10ffff],
]

/** The difference: in the first and not in the second. */
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

/** Byte strings of equal length between two bounds, whose bytes after the first range over 80 to bf (hexadecimal). */
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

/** One character of these ranges as `JSON.stringify` writes it in a string. */
export function jsonCharacter(algebra: Algebra, ranges: readonly Range[]): Expression {
  const plain = utf8(algebra, without(ranges, escaped))
  const escapes = overlap(escaped, ranges).flatMap(([low, high]) =>
    Array.from({ length: high - low + 1 }, (_, i) =>
      algebra.text(JSON.stringify(String.fromCharCode(low + i)).slice(1, -1)),
    ),
  )
  return algebra.choice(plain, ...escapes)
}

const code = (text: string): number => text.codePointAt(0)!
const digits: Range[] = [[0x30, 0x39]]
const words: Range[] = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]
const lineEnds: Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]
const withoutLineEnds = without(anyCharacter, lineEnds)
const spaces: Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
const classes: Record<string, Range[]> = { d: digits, w: words, s: spaces }
const controls: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 }

/**
 * Converts an ECMAScript regular expression to an expression. `characterOf` returns the expression of one character of
 * some ranges. With `search` it may match anywhere, like JSON Schema's patterns; otherwise it matches the whole text.
 *
 * @throws AgogeError `unsupported-pattern` for what is not regular or not supported: assertions other than ^ and $
 * around the whole, backreferences, \p{...}
 */
export function regularExpression(
  algebra: Algebra,
  source: string,
  characterOf: (ranges: readonly Range[]) => Expression,
  search: boolean,
): Expression {
  const symbols = Array.from(source)
  let at = 0
  /** Patterns name the same characters again and again. */
  const characters = new Map<string, Expression>()
  function character(ranges: readonly Range[]): Expression {
    const key = ranges.join()
    const made = characters.get(key) ?? characterOf(ranges)
    characters.set(key, made)
    return made
  }

  function refuse(what: string): never {
    throw new AgogeError(`the pattern ${JSON.stringify(source)} cannot be made into a grammar: ${what}`, {
      code: 'unsupported-pattern',
      given: source,
      expected: 'characters, classes, groups, |, *, +, ?, {m,n}, and ^ and $ at the ends',
    })
  }
  /** The next symbols; limited because names and numbers are short and patterns may be long. */
  const ahead = (count: number): string => symbols.slice(at, at + count).join('')
  const take = (symbol: string): boolean => symbols[at] === symbol && ++at > 0

  /** Alternatives up to the end or a bracket; only outermost ones may have anchors. */
  function alternatives(outermost: boolean): Expression {
    const parts: Expression[] = []
    do {
      const atStart = outermost && take('^')
      const items: Expression[] = []
      let atEnd = false
      while (at < symbols.length && symbols[at] !== '|' && symbols[at] !== ')') {
        if (outermost && take('$')) {
          atEnd = true
          if (at < symbols.length && symbols[at] !== '|') refuse('$ stands inside')
        } else items.push(quantified())
      }
      const free = outermost && search ? algebra.repeat(character(anyCharacter)) : algebra.empty
      parts.push(algebra.sequence(atStart ? algebra.empty : free, ...items, atEnd ? algebra.empty : free))
    } while (take('|'))
    return algebra.choice(...parts)
  }

  function quantified(): Expression {
    const inner = atom()
    const bounds = quantifier()
    if (bounds === undefined) return inner
    // Laziness does not affect what matches.
    take('?')
    return algebra.repeat(inner, ...bounds)
  }

  function quantifier(): [number, number] | undefined {
    if (take('*')) return [0, Infinity]
    if (take('+')) return [1, Infinity]
    if (take('?')) return [0, 1]
    const braces = /^\{(\d+)(,(\d*))?\}/.exec(ahead(24))
    if (braces === null) return undefined
    at += braces[0].length
    const least = Number(braces[1])
    const most = braces[2] === undefined ? least : braces[3] === '' ? Infinity : Number(braces[3])
    if (most < least) refuse('bounds in the wrong order')
    return [least, most]
  }

  function atom(): Expression {
    const symbol = symbols[at++]
    if (symbol === '(') return group()
    if (symbol === '[') return character(bracketed())
    if (symbol === '.') return character(withoutLineEnds)
    if (symbol === '\\') return character(escape())
    if ('*+?{'.includes(symbol) && !(symbol === '{' && !/^\d+(,\d*)?\}/.test(ahead(24))))
      refuse(`nothing to repeat before ${symbol}`)
    if (symbol === '^' || symbol === '$') refuse(`${symbol} stands inside`)
    return character([[code(symbol), code(symbol)]])
  }

  function group(): Expression {
    if (take('?')) {
      const named = /^<[A-Za-z_$][\w$]*>/.exec(ahead(256))
      if (named !== null) at += named[0].length
      else if (!take(':')) refuse('it looks ahead or behind')
    }
    const inner = alternatives(false)
    if (!take(')')) refuse('a bracket is not closed')
    return inner
  }

  /** Ranges of an escape after a backslash. */
  function escape(): readonly Range[] {
    const symbol = symbols[at++]
    if (symbol === undefined) refuse('it ends with a backslash')
    const lower = symbol.toLowerCase()
    if (lower in classes) return symbol === lower ? classes[lower] : without(anyCharacter, classes[lower])
    const one = (value: number): Range[] => [[value, value]]
    if (symbol in controls && !(symbol === '0' && /\d/.test(symbols[at] ?? ''))) return one(controls[symbol])
    if (symbol === 'x' || symbol === 'u') {
      const hex = /^(?:\{([\da-f]{1,6})\}|([\da-f]{4}))/i.exec(symbols.slice(at, at + 8).join(''))
      const short = /^([\da-f]{2})/i.exec(symbols.slice(at, at + 2).join(''))
      const found = symbol === 'u' ? hex : short
      if (found === null) refuse(`\\${symbol} without its digits`)
      at += found[0].length
      return one(parseInt(found[2] ?? found[1], 16))
    }
    if (/[a-z\d]/i.test(symbol)) refuse(`\\${symbol} is not known`)
    return one(code(symbol))
  }

  function bracketed(): Range[] {
    const isNegated = take('^')
    const ranges: Range[] = []
    const item = (): readonly Range[] => {
      if (!take('\\')) return [[code(symbols[at]), code(symbols[at++])]]
      if (take('b')) return [[8, 8]]
      return escape()
    }
    while (symbols[at] !== ']') {
      if (at >= symbols.length) refuse('a bracket is not closed')
      const from = item()
      const isRange = symbols[at] === '-' && symbols[at + 1] !== ']' && at + 1 < symbols.length
      if (!isRange || from.length !== 1 || from[0][0] !== from[0][1]) {
        ranges.push(...from)
        continue
      }
      at++
      const to = item()
      if (to.length !== 1 || to[0][0] !== to[0][1] || to[0][0] < from[0][0])
        refuse('a range in the wrong order')
      ranges.push([from[0][0], to[0][1]])
    }
    at++
    // Ranges are compared with each other.
    algebra.spend(ranges.length ** 2)
    return isNegated ? without(anyCharacter, ranges) : without(ranges, [])
  }

  const whole = alternatives(true)
  if (at < symbols.length) refuse('a bracket too many')
  return whole
}
