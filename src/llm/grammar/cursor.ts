import { compileGrammar, type Grammar } from './compile.ts'
import { createAlgebra } from './expression.ts'
import type { Algebra, Expression } from './expression.ts'
import { createStepBudget, grammarLimits } from './step-budget.ts'
import type { StepBudget } from './step-budget.ts'
import { orderTokens, textOf, tokenMask, type TokenMask, type TokenTexts } from './token-masks.ts'

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

/** Limits for cached grammars: their number, their expressions, and the bytes of masks of each. */
const mostGrammars = 64
const mostExpressions = 500_000
const mostMaskBytes = 16 * 2 ** 20

interface Compiled {
  algebra: Algebra
  start: Expression
  budget: StepBudget
  masks: Map<Expression, TokenMask>
  /** Levels of all masks. */
  kept: number
}

/**
 * Compiles grammars for the tokens of a model. Creates states and masks when a row reaches them, and shares them
 * between rows.
 */
export function createGrammars(texts: TokenTexts): Grammars {
  const order = orderTokens(texts)
  const known = new Map<string, Compiled>()
  /** Cache by object identity, so that the rows of a call do not serialise their grammar again. */
  const seen = new WeakMap<object, Compiled>()
  const none = new Uint32Array(Math.ceil(order.size / 32))
  const mostMasks = Math.max(64, Math.floor(mostMaskBytes / (order.size / 8)))

  /** Active rows keep a grammar that has grown too large; new rows compile it again. */
  const isSmall = ({ algebra }: Compiled): boolean => algebra.size <= mostExpressions / 2

  function compiled(grammar: Grammar): Compiled {
    const isCompiled = typeof grammar === 'object' && 'compiled' in grammar
    const key = isCompiled ? grammar.compiled : JSON.stringify(grammar)
    const found = known.get(key)
    if (found !== undefined && isSmall(found)) return found
    const budget = createStepBudget()
    const algebra = createAlgebra(budget)
    const { value: start } = budget.within(grammarLimits.compiling, 'compile it', () =>
      isCompiled ? algebra.unpack(grammar.expressions) : compileGrammar(algebra, grammar, order.markers),
    )
    known.delete(key)
    let all = algebra.size
    for (const kept of known.values()) all += kept.algebra.size
    for (const [oldest, kept] of known) {
      if (known.size < mostGrammars && all <= mostExpressions) break
      known.delete(oldest)
      all -= kept.algebra.size
    }
    const made = { algebra, start, budget, masks: new Map<Expression, TokenMask>(), kept: 0 }
    known.set(key, made)
    return made
  }

  function maskOf(grammar: Compiled, state: Expression): TokenMask {
    const { algebra, masks } = grammar
    const known = masks.get(state)
    if (known !== undefined) return known
    if (grammar.kept > mostMasks) {
      masks.clear()
      grammar.kept = 0
    }
    const made = tokenMask(order, algebra, state)
    grammar.kept += made.levels.length
    masks.set(state, made)
    return made
  }

  return {
    start(grammar) {
      const before = typeof grammar === 'string' ? undefined : seen.get(grammar)
      const found = before !== undefined && isSmall(before) ? before : compiled(grammar)
      if (typeof grammar !== 'string') seen.set(grammar, found)
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
