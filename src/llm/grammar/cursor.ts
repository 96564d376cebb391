import { compileGrammar } from './compile.ts'
import type { Grammar } from './compile.ts'
import type { Algebra, Expression } from './expression.ts'
import { createAlgebra } from './expression.ts'
import { createStepBudget, grammarLimits } from './step-budget.ts'
import type { StepBudget } from './step-budget.ts'

/** The text of every token, as plain data that can be sent to threads. */
export interface TokenTexts {
  /** The texts concatenated, in UTF-8. */
  bytes: Uint8Array
  /** Offset of each text; one more entry than tokens. */
  starts: Int32Array
  /** 1 for tokens without text. */
  markers: Uint8Array
}

/** Texts by token; undefined for markers. */
export function packTexts(texts: readonly (Uint8Array | undefined)[]): TokenTexts {
  const starts = new Int32Array(texts.length + 1)
  texts.forEach((text, id) => (starts[id + 1] = starts[id] + (text?.length ?? 0)))
  const bytes = new Uint8Array(starts[texts.length])
  texts.forEach((text, id) => bytes.set(text ?? [], starts[id]))
  return { bytes, starts, markers: Uint8Array.from(texts, (text) => Number(text === undefined)) }
}

/** The text of a token in UTF-8; empty for markers and for ids without text. */
export function textOf({ bytes, starts }: TokenTexts, id: number): Uint8Array {
  return id + 1 < starts.length ? bytes.subarray(starts[id], starts[id + 1]) : new Uint8Array()
}

/** Tokens sorted by text, so that those with a common prefix are adjacent. */
interface TokenOrder {
  readonly size: number
  readonly ids: Int32Array
  readonly texts: readonly Uint8Array[]
  /** Number of bytes that each shares with the previous one. */
  readonly shared: Int32Array
  readonly markers: readonly number[]
}

function orderTokens(texts: TokenTexts): TokenOrder {
  const size = texts.markers.length
  const all = Array.from({ length: size }, (_, id) => textOf(texts, id))
  const withText = all.map((_, id) => id).filter((id) => texts.markers[id] === 0 && all[id].length > 0)
  withText.sort((a, b) => Buffer.compare(all[a], all[b]))
  const shared = withText.map((id, i) => {
    const [text, before] = [all[id], i === 0 ? new Uint8Array() : all[withText[i - 1]]]
    let length = 0
    while (length < text.length && length < before.length && text[length] === before[length]) length++
    return length
  })
  return {
    size,
    ids: Int32Array.from(withText),
    texts: withText.map((id) => all[id]),
    shared: Int32Array.from(shared),
    markers: all.map((_, id) => id).filter((id) => texts.markers[id] === 1),
  }
}

/** The tokens that are allowed in a state, by how many symbols are needed after them to end. */
interface TokenMask {
  /**
   * A bit for each token after which `length` symbols suffice. Each mask includes the previous ones; the last has all
   * tokens.
   */
  levels: readonly { length: number; bits: Uint32Array }[]
}

function tokenMask(
  { size, ids, texts, shared, markers }: TokenOrder,
  algebra: Algebra,
  state: Expression,
): TokenMask {
  const words = Math.ceil(size / 32)
  const byLength = new Map<number, Uint32Array>()
  const allow = (id: number, after: Expression): void => {
    const length = algebra.shortest(after)
    let bits = byLength.get(length)
    if (bits === undefined) byLength.set(length, (bits = new Uint32Array(words)))
    bits[id >> 5] |= 1 << (id & 31)
  }
  /** The state after each number of bytes; from `dead` on there is none. */
  const states = [state]
  let dead = Infinity
  for (let i = 0; i < ids.length; i++) {
    if (shared[i] >= dead) continue
    dead = Infinity
    const text = texts[i]
    let depth = shared[i]
    for (; depth < text.length; depth++) {
      const after = algebra.derivative(states[depth], text[depth])
      if (after === algebra.nothing) {
        dead = depth + 1
        break
      }
      states[depth + 1] = after
    }
    if (depth === text.length) allow(ids[i], states[depth])
  }
  for (const id of markers) {
    const after = algebra.derivative(state, 256 + id)
    if (after !== algebra.nothing) allow(id, after)
  }
  const levels = [...byLength].map(([length, bits]) => ({ length, bits })).sort((a, b) => a.length - b.length)
  for (let level = 1; level < levels.length; level++)
    for (let word = 0; word < words; word++) levels[level].bits[word] |= levels[level - 1].bits[word]
  return { levels }
}

/**
 * Position of a row in its grammar. `mask` and `advance` throw AgogeError `grammar-too-large` if `grammarLimits` are
 * exceeded.
 */
export interface GrammarCursor {
  /**
   * A bit for each token that may come next. If possible, only tokens after which the text can end within `left` more
   * tokens.
   */
  mask(left: number): Uint32Array
  advance(token: number): void
  /** Whether the text may end here. */
  readonly accepting: boolean
  /** Whether the text must end here because nothing can follow. */
  readonly complete: boolean
}

export interface Grammars {
  /** @throws AgogeError for a grammar that is invalid, too large (`grammarLimits`) or matches nothing */
  start(grammar: Grammar): GrammarCursor
}

/** Limits for cached grammars: their number, the bytes of all of them, and of one that is used again. */
const mostGrammars = 64
const mostBytes = 48 * 2 ** 20
const mostOfOne = 192 * 2 ** 20
/** About what an expression takes with its derivatives and its share of the masks' keys, and a level of a mask besides its bits. */
const bytesOfExpression = 1500
const bytesOfLevel = 300

interface Compiled {
  algebra: Algebra
  start: Expression
  budget: StepBudget
  masks: Map<Expression, TokenMask>
  /** Levels of all masks. */
  levels: number
}

/**
 * Compiles grammars for the tokens of a model. Creates states and masks when a row reaches them, and shares them
 * between rows.
 */
export function createGrammars(texts: TokenTexts): Grammars {
  const order = orderTokens(texts)
  /** The one that was used last is the last. */
  const known = new Map<string, Compiled>()
  /** Keys by object identity, so that the rows of a call do not serialise their grammar again. */
  const keys = new WeakMap<object, string>()
  const none = new Uint32Array(Math.ceil(order.size / 32))
  const bytesOfMasks = ({ levels }: Compiled): number => levels * (order.size / 8 + bytesOfLevel)
  const bytesOf = (grammar: Compiled): number =>
    grammar.algebra.size * bytesOfExpression + bytesOfMasks(grammar)

  function keyOf(grammar: Grammar): string {
    if (typeof grammar === 'string') return JSON.stringify(grammar)
    if ('compiled' in grammar) return grammar.compiled
    const key = keys.get(grammar) ?? JSON.stringify(grammar)
    keys.set(grammar, key)
    return key
  }

  function compile(grammar: Grammar): Compiled {
    const budget = createStepBudget()
    const algebra = createAlgebra(budget)
    const { value: start } = budget.within(grammarLimits.compiling, 'compile it', () =>
      typeof grammar === 'object' && 'compiled' in grammar
        ? algebra.unpack(grammar.expressions)
        : compileGrammar(algebra, grammar, order.markers),
    )
    return { algebra, start, budget, masks: new Map(), levels: 0 }
  }

  /** Active rows keep a grammar that has grown too large; new rows compile it again. */
  function compiled(grammar: Grammar): Compiled {
    const key = keyOf(grammar)
    const before = known.get(key)
    known.delete(key)
    const found = before !== undefined && bytesOf(before) <= mostOfOne ? before : compile(grammar)
    let all = bytesOf(found)
    for (const kept of known.values()) all += bytesOf(kept)
    for (const [oldest, kept] of known) {
      if (known.size < mostGrammars && all <= mostBytes) break
      known.delete(oldest)
      all -= bytesOf(kept)
    }
    known.set(key, found)
    return found
  }

  function maskOf(grammar: Compiled, state: Expression): TokenMask {
    const { algebra, masks } = grammar
    const known = masks.get(state)
    if (known !== undefined) return known
    if (bytesOfMasks(grammar) > mostOfOne / 2) {
      masks.clear()
      grammar.levels = 0
    }
    const made = tokenMask(order, algebra, state)
    grammar.levels += made.levels.length
    masks.set(state, made)
    return made
  }

  return {
    start(grammar) {
      const found = compiled(grammar)
      const { algebra, budget, start } = found
      let state = start
      let left = grammarLimits.perRow
      /** Steps that another row has already computed are neither repeated nor counted. */
      function limited<T>(work: () => T): T {
        const isLast = left < grammarLimits.perToken
        const limit = isLast ? left : grammarLimits.perToken
        const { value, spent } = budget.within(limit, isLast ? 'say all of it' : 'find the next token', work)
        left -= spent
        return value
      }
      return {
        mask(leftTokens) {
          const { levels } = limited(() => maskOf(found, state))
          const near = levels.findLast(({ length }) => length <= leftTokens)
          // If the text cannot end in time, all allowed tokens remain.
          return (near ?? (state.accepts ? undefined : levels.at(-1)))?.bits ?? none
        },
        advance(token) {
          const symbols = texts.markers[token] === 1 ? [256 + token] : textOf(texts, token)
          limited(() => {
            for (const symbol of symbols) state = algebra.derivative(state, symbol)
          })
        },
        get accepting() {
          return state.accepts
        },
        get complete() {
          return state === algebra.empty
        },
      }
    },
  }
}
