import type { Expression } from './expression.ts'

/** An expression with all its parts, as plain data that can be sent to threads. */
export interface PackedExpressions {
  /**
   * All expressions in order, parts before the expressions that contain them: index of the kind in `kinds`, then
   * numbers with the rest.
   */
  readonly words: Float64Array
  readonly names: readonly string[]
  /** For each rule: name, index of its expression, and length of its shortest text. */
  readonly rules: readonly (readonly [string, number, number])[]
  /** The length of the shortest text of each expression, -1 if unknown. */
  readonly lengths: Float64Array
  /** Index of the expression. */
  readonly start: number
}

const kinds = [
  'nothing',
  'empty',
  'bytes',
  'marker',
  'sequence',
  'choice',
  'both',
  'not',
  'repeat',
  'rule',
] as const

export interface PackedRules {
  bodies: ReadonlyMap<string, Expression>
  lengths: ReadonlyMap<string, number>
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'sequence':
      return [expression.first, expression.rest]
    case 'choice':
    case 'both':
      return expression.parts
    case 'not':
    case 'repeat':
      return [expression.inner]
    default:
      return []
  }
}

/** Derivatives are omitted and computed again when needed. */
export function packExpressions(
  start: Expression,
  { bodies, lengths: ruleLengths }: PackedRules,
  lengths: ReadonlyMap<Expression, number>,
): PackedExpressions {
  const reached = new Set<Expression>([start, ...bodies.values()])
  // Iterating a set also visits elements added during the iteration.
  for (const expression of reached) for (const part of partsOf(expression)) reached.add(part)
  const all = [...reached].sort((a, b) => a.id - b.id)
  const places = new Map(all.map((expression, place) => [expression, place]))
  const placeOf = (expression: Expression): number => places.get(expression)!
  const names: string[] = []
  const words: number[] = []
  for (const expression of all) {
    words.push(kinds.indexOf(expression.kind))
    if (expression.kind === 'bytes') for (let i = 0; i < 256; i += 32) words.push(bitsOf(expression.has, i))
    if (expression.kind === 'marker') words.push(expression.symbol)
    if (expression.kind === 'rule') words.push(names.push(expression.name) - 1)
    const parts = partsOf(expression)
    if (expression.kind === 'choice' || expression.kind === 'both') words.push(parts.length)
    for (const part of parts) words.push(placeOf(part))
    if (expression.kind === 'repeat') words.push(expression.least, expression.most)
  }
  return {
    words: Float64Array.from(words),
    names,
    rules: [...bodies].map(([name, body]) => [name, placeOf(body), ruleLengths.get(name) ?? -1]),
    lengths: Float64Array.from(all, (expression) => lengths.get(expression) ?? -1),
    start: placeOf(start),
  }
}

function bitsOf(has: Uint8Array, from: number): number {
  let bits = 0
  for (let i = 0; i < 32; i++) bits |= has[from + i] << i
  return bits
}

/** How an algebra constructs expressions. */
export interface Constructors {
  nothing: Expression
  empty: Expression
  byteSet(has: Uint8Array): Expression
  marker(symbol: number): Expression
  sequence(first: Expression, rest: Expression): Expression
  several(kind: 'choice' | 'both', parts: readonly Expression[]): Expression
  not(inner: Expression): Expression
  repeat(inner: Expression, least: number, most: number): Expression
  ruleName(name: string): Expression
}

/** All packed expressions in order. */
export function unpackExpressions({ words, names }: PackedExpressions, make: Constructors): Expression[] {
  const all: Expression[] = []
  let at = 0
  const part = (): Expression => all[words[at++]]
  const list = (): Expression[] => Array.from({ length: words[at++] }, part)
  const one = (): Expression => {
    switch (kinds[words[at++]]) {
      case 'nothing':
        return make.nothing
      case 'empty':
        return make.empty
      case 'bytes': {
        const from = at
        at += 8
        return make.byteSet(
          Uint8Array.from({ length: 256 }, (_, i) => (words[from + (i >> 5)] >> (i & 31)) & 1),
        )
      }
      case 'marker':
        return make.marker(words[at++])
      case 'sequence':
        return make.sequence(part(), part())
      case 'choice':
        return make.several('choice', list())
      case 'both':
        return make.several('both', list())
      case 'not':
        return make.not(part())
      case 'repeat':
        return make.repeat(part(), words[at++], words[at++])
      case 'rule':
        return make.ruleName(names[words[at++]])
    }
  }
  while (at < words.length) all.push(one())
  return all
}
