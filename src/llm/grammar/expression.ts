import { AgogeError } from '../../error.ts'
import { packExpressions, unpackExpressions } from './packed-algebra.ts'
import type { PackedExpressions } from './packed-algebra.ts'
import { createStepBudget } from './step-budget.ts'
import type { StepBudget } from './step-budget.ts'

/**
 * A language over symbols: bytes, and markers as 256 + token id. Equal expressions of an algebra are the same object,
 * so the derivatives of an expression are the states of an automaton that is built lazily.
 */
export type Expression = {
  readonly id: number
  readonly next: (Expression | undefined)[]
  /** Whether the empty text is allowed. */
  readonly accepts: boolean
} & Shape

export type Shape =
  | { kind: 'nothing' }
  | { kind: 'empty' }
  | { kind: 'bytes'; has: Uint8Array }
  | { kind: 'marker'; symbol: number }
  | { kind: 'sequence'; first: Expression; rest: Expression }
  | { kind: 'choice'; parts: readonly Expression[] }
  | { kind: 'both'; parts: readonly Expression[] }
  | { kind: 'not'; inner: Expression }
  | { kind: 'repeat'; inner: Expression; least: number; most: number }
  | { kind: 'rule'; name: string }

export interface Algebra {
  readonly nothing: Expression
  readonly empty: Expression
  /** One byte of these ranges, both ends included. */
  readonly bytes: (...ranges: readonly (readonly [number, number])[]) => Expression
  /** The UTF-8 of a text. */
  readonly text: (text: string) => Expression
  readonly marker: (token: number) => Expression
  readonly sequence: (...parts: readonly Expression[]) => Expression
  readonly choice: (...parts: readonly Expression[]) => Expression
  /** The intersection. Parts must not contain rules. */
  readonly both: (...parts: readonly Expression[]) => Expression
  readonly not: (inner: Expression) => Expression
  readonly repeat: (inner: Expression, least?: number, most?: number) => Expression
  readonly optional: (inner: Expression) => Expression
  /** A named expression, which may refer to its own name. It must not allow the empty text. */
  readonly rule: (name: string, build: () => Expression) => Expression
  /** What may follow a symbol (Brzozowski 1964); `nothing` if no allowed text begins with it. */
  readonly derivative: (expression: Expression, symbol: number) => Expression
  /**
   * Length of the shortest allowed text in symbols; Infinity if there is none. Call it only after all rules are
   * defined.
   */
  readonly shortest: (expression: Expression) => number
  /** The number of expressions so far. */
  readonly size: number
  /** A unique number for each text, for names of rules. */
  readonly scope: (text: string) => number
  /** Counts work for the same grammar outside this algebra. */
  readonly spend: StepBudget['spend']
  /** An expression as data, which another algebra restores with `unpack`. */
  readonly pack: (start: Expression) => PackedExpressions
  readonly unpack: (packed: PackedExpressions) => Expression
}

function acceptsEmpty(shape: Shape): boolean {
  switch (shape.kind) {
    case 'empty':
      return true
    case 'sequence':
      return shape.first.accepts && shape.rest.accepts
    case 'choice':
      return shape.parts.some((part) => part.accepts)
    case 'both':
      return shape.parts.every((part) => part.accepts)
    case 'not':
      return !shape.inner.accepts
    case 'repeat':
      return shape.least === 0
    default:
      return false
  }
}

/** Steps charged for a stored expression, because it takes memory too. */
const stepsToKeep = 30
/** What a set of bytes costs, whether it is new or not. */
const stepsOfSet = 4
/** Limit of the search for a shortest text. */
const mostStates = 20_000

/** The 256 bits of a set of bytes as a text. */
function bitsOf(has: Uint8Array): string {
  let text = ''
  for (let from = 0; from < 256; from += 16) {
    let bits = 0
    for (let byte = 0; byte < 16; byte++) bits = bits * 2 + has[from + byte]
    text += String.fromCharCode(bits)
  }
  return text
}

/** The algebra of languages over bytes and markers. Counts all work in `budget`. */
export function createAlgebra({ spend }: Pick<StepBudget, 'spend'> = createStepBudget()): Algebra {
  const known = new Map<string, Expression>()
  const scopes = new Map<string, number>()
  const rules = new Map<string, Expression>()
  const ruleLengths = new Map<string, number>()
  const lengths = new Map<Expression, number>()
  /** For each byte, the first byte that no set distinguishes from it. */
  let representative = new Uint8Array(256)

  function intern(key: string, shape: Shape): Expression {
    const found = known.get(key)
    if (found !== undefined) return found
    spend(stepsToKeep)
    const made = { id: known.size, next: [], accepts: acceptsEmpty(shape), ...shape }
    known.set(key, made)
    return made
  }
  const ids = (parts: readonly Expression[]): string => parts.map(({ id }) => id).join()

  const nothing = intern('nothing', { kind: 'nothing' })
  const empty = intern('empty', { kind: 'empty' })

  function byteSet(has: Uint8Array): Expression {
    if (!has.includes(1)) return nothing
    spend(stepsOfSet)
    const key = `bytes ${bitsOf(has)}`
    if (!known.has(key)) {
      const seen = new Map<number, number>()
      representative = representative.map((old, byte) => {
        const place = old * 2 + has[byte]
        if (!seen.has(place)) seen.set(place, byte)
        return seen.get(place)!
      })
    }
    return intern(key, { kind: 'bytes', has })
  }

  function union(sets: readonly Expression[]): Expression {
    const has = new Uint8Array(256)
    for (const set of sets)
      if (set.kind === 'bytes') for (let byte = 0; byte < 256; byte++) has[byte] |= set.has[byte]
    return byteSet(has)
  }

  function pair(first: Expression, rest: Expression): Expression {
    if (first === nothing || rest === nothing) return nothing
    if (first === empty) return rest
    if (rest === empty) return first
    // Iterative, because texts are long and a call per byte would need a deep stack.
    const parts: Expression[] = []
    let last = first
    for (; last.kind === 'sequence'; last = last.rest) parts.push(last.first)
    return parts.reduceRight((behind, part) => two(part, behind), two(last, rest))
  }

  function two(first: Expression, rest: Expression): Expression {
    return intern(`sequence ${first.id} ${rest.id}`, { kind: 'sequence', first, rest })
  }

  function choice(...parts: readonly Expression[]): Expression {
    const flat = parts.flatMap((part) => (part.kind === 'choice' ? part.parts : [part]))
    spend(flat.length)
    const sets = new Set(flat.filter(({ kind }) => kind === 'bytes'))
    const all = [...new Set(flat)].filter((part) => part !== nothing && !(sets.size > 1 && sets.has(part)))
    if (sets.size > 1) all.push(union([...sets]))
    if (all.length < 2) return all[0] ?? nothing
    return several('choice', all)
  }

  /** Equal parts in any order give the same expression. */
  function several(kind: 'choice' | 'both', parts: readonly Expression[]): Expression {
    const all = parts.toSorted((a, b) => a.id - b.id)
    return intern(`${kind} ${ids(all)}`, { kind, parts: all })
  }

  function both(...parts: readonly Expression[]): Expression {
    const flat = parts.flatMap((part) => (part.kind === 'both' ? part.parts : [part]))
    spend(flat.length)
    const all = [...new Set(flat)].filter((part) => !(part.kind === 'not' && part.inner === nothing))
    if (all.includes(nothing)) return nothing
    if (all.length < 2) return all[0] ?? not(nothing)
    return several('both', all)
  }

  function not(inner: Expression): Expression {
    return inner.kind === 'not' ? inner.inner : intern(`not ${inner.id}`, { kind: 'not', inner })
  }

  function repeat(inner: Expression, least = 0, most = Infinity): Expression {
    if (most === 0 || inner === empty) return empty
    if (inner === nothing) return least > 0 ? nothing : empty
    if (least === 1 && most === 1) return inner
    const needed = inner.accepts ? 0 : least
    return intern(`repeat ${inner.id} ${needed} ${most}`, { kind: 'repeat', inner, least: needed, most })
  }

  /** The derivative, possibly as another form of `nothing`. */
  function step(expression: Expression, symbol: number): Expression {
    const place = symbol < 256 ? representative[symbol] : symbol
    return (expression.next[place] ??= derive(expression, place))
  }

  function derive(expression: Expression, symbol: number): Expression {
    switch (expression.kind) {
      case 'nothing':
      case 'empty':
        return nothing
      case 'bytes':
        return symbol < 256 && expression.has[symbol] === 1 ? empty : nothing
      case 'marker':
        return symbol === expression.symbol ? empty : nothing
      case 'sequence': {
        const { first, rest } = expression
        const after = pair(step(first, symbol), rest)
        return first.accepts ? choice(after, step(rest, symbol)) : after
      }
      case 'choice':
        return choice(...expression.parts.map((part) => step(part, symbol)))
      case 'both':
        return both(...expression.parts.map((part) => step(part, symbol)))
      case 'not':
        return not(step(expression.inner, symbol))
      case 'repeat': {
        const { inner, least, most } = expression
        return pair(step(inner, symbol), repeat(inner, Math.max(0, least - 1), most - 1))
      }
      case 'rule':
        return step(rules.get(expression.name)!, symbol)
    }
  }

  /** `found` caches results for the current `ruleLengths`. */
  function measure(expression: Expression, found: Map<Expression, number>): number {
    const before = found.get(expression)
    if (before !== undefined) return before
    spend(1)
    const of = (part: Expression): number => measure(part, found)
    const length = ((): number => {
      switch (expression.kind) {
        case 'nothing':
          return Infinity
        case 'empty':
          return 0
        case 'bytes':
        case 'marker':
          return 1
        case 'sequence':
          return measureSequence(expression, found)
        case 'choice':
          spend(expression.parts.length)
          return expression.parts.reduce((least, part) => Math.min(least, of(part)), Infinity)
        case 'repeat':
          return expression.least === 0 ? 0 : expression.least * of(expression.inner)
        case 'rule':
          return ruleLengths.get(expression.name) ?? Infinity
        default:
          return search(expression)
      }
    })()
    found.set(expression, length)
    return length
  }

  /** Iterative and from end to start, because texts are long and a call per byte would need a deep stack. */
  function measureSequence(expression: Expression, found: Map<Expression, number>): number {
    const chain: Extract<Expression, { kind: 'sequence' }>[] = []
    let end = expression
    while (end.kind === 'sequence' && (end === expression || !found.has(end))) {
      chain.push(end)
      end = end.rest
    }
    spend(chain.length)
    let length = measure(end, found)
    for (const part of chain.reverse()) {
      length += measure(part.first, found)
      found.set(part, length)
    }
    return length
  }

  /** Breadth-first search for expressions without rules. */
  function search(start: Expression): number {
    const seen = new Set([start])
    let level = [start]
    let best = Infinity
    const classes = new Set(representative)
    for (let depth = 0; level.length > 0 && depth < best; depth++) {
      const next: Expression[] = []
      for (const state of level) {
        spend(classes.size)
        if (state.accepts) return Math.min(best, depth)
        best = Math.min(best, depth + (lengths.get(state) ?? Infinity))
        for (const byte of classes) {
          const after = step(state, byte)
          if (after === nothing || seen.has(after)) continue
          seen.add(after)
          next.push(after)
        }
      }
      if (seen.size > mostStates)
        throw new AgogeError('the grammar is too large', {
          code: 'bad-grammar',
          expected: `patterns and lengths that fewer than ${mostStates} states tell apart`,
          hint: 'shorten lengths, or simplify patterns that hold together with a length',
        })
      level = next
    }
    return best
  }

  /** Lengths of all rules: the least fixed point. */
  function settleRules(): void {
    for (let changed = true; changed;) {
      changed = false
      const found = new Map<Expression, number>()
      for (const [name, body] of rules) {
        const length = measure(body, found)
        if (length >= (ruleLengths.get(name) ?? Infinity)) continue
        ruleLengths.set(name, length)
        changed = true
      }
    }
  }

  function shortest(expression: Expression): number {
    if (ruleLengths.size < rules.size) {
      for (const name of rules.keys()) if (!ruleLengths.has(name)) ruleLengths.set(name, Infinity)
      settleRules()
    }
    return measure(expression, lengths)
  }

  const marker = (symbol: number): Expression => intern(`marker ${symbol}`, { kind: 'marker', symbol })
  const ruleName = (name: string): Expression => intern(`rule ${name}`, { kind: 'rule', name })
  /** One-byte expressions, from which texts are built. */
  const single = new Map<number, Expression>()
  const bytes: Algebra['bytes'] = (...ranges) => {
    const alone = ranges.length === 1 && ranges[0][0] === ranges[0][1] ? ranges[0][0] : -1
    const made = single.get(alone)
    if (made !== undefined) return made
    const has = new Uint8Array(256)
    for (const [low, high] of ranges) has.fill(1, low, high + 1)
    const set = byteSet(has)
    if (alone >= 0) single.set(alone, set)
    return set
  }
  const sequence: Algebra['sequence'] = (...parts) =>
    parts.reduceRight((rest, part) => pair(part, rest), empty)

  return {
    nothing,
    empty,
    bytes,
    text: (text) => sequence(...Array.from(new TextEncoder().encode(text), (byte) => bytes([byte, byte]))),
    marker: (token) => marker(256 + token),
    sequence,
    choice,
    both,
    not,
    repeat,
    optional: (inner) => choice(empty, inner),
    rule(name, build) {
      const made = ruleName(name)
      if (!rules.has(name)) {
        // Inside its definition, a rule is referred to by name.
        rules.set(name, nothing)
        rules.set(name, build())
      }
      return made
    },
    derivative(expression, symbol) {
      const after = step(expression, symbol)
      return after !== nothing && shortest(after) === Infinity ? nothing : after
    },
    shortest,
    get size() {
      return known.size
    },
    scope(text) {
      const found = scopes.get(text) ?? scopes.size
      scopes.set(text, found)
      return found
    },
    spend,
    pack: (start) => packExpressions(start, { bodies: rules, lengths: ruleLengths }, lengths),
    unpack(packed) {
      const make = { nothing, empty, byteSet, marker, sequence: two, several, not, repeat, ruleName }
      const all = unpackExpressions(packed, make)
      for (const [name, body, length] of packed.rules) {
        rules.set(name, all[body])
        if (length >= 0) ruleLengths.set(name, length)
      }
      for (const [place, expression] of all.entries())
        if (packed.lengths[place] >= 0) lengths.set(expression, packed.lengths[place])
      return all[packed.start]
    },
  }
}
