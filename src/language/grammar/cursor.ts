import { AgogeError } from '../../error.ts'
import { utf8 } from './characters.ts'
import { createAlgebra } from './expression.ts'
import type { Algebra, Expression } from './expression.ts'
import type { Grammar } from './grammar.ts'
import { schemaExpression } from './json-schema.ts'
import { regularExpression } from './regular-expression.ts'
import { orderTokens, tokenMask } from './token-masks.ts'
import type { TokenMask } from './token-masks.ts'
import { textOf } from './token-texts.ts'
import type { TokenTexts } from './token-texts.ts'

/** Where a row stands in its grammar. */
export interface GrammarCursor {
  /**
   * A bit for each token that may come next; those only after which an end can be reached with `left` more tokens, where there are any
   * such.
   */
  mask(left: number): Uint32Array
  advance(token: number): void
  /** Whether the text may end here. */
  readonly accepting: boolean
  /** Whether it must: nothing can follow. */
  readonly complete: boolean
}

export interface Grammars {
  /** @throws AgogeError for a grammar that cannot be used, or that nothing fits */
  start(grammar: Grammar): GrammarCursor
}

/** Compiled grammars that are kept, and bytes of masks that each keeps. */
const mostGrammars = 64
const mostMaskBytes = 16 * 2 ** 20

interface Compiled {
  algebra: Algebra
  start: Expression
  masks: Map<Expression, TokenMask>
  /** Levels of all of them. */
  kept: number
}

/** Compiles grammars for the tokens of a model; states and masks are made as rows come to them, and kept for other rows. */
export function createGrammars(texts: TokenTexts): Grammars {
  const order = orderTokens(texts)
  const known = new Map<string, Compiled>()
  /** The same by the objects themselves, so that the many rows of a call do not write them out. */
  const seen = new WeakMap<object, Compiled>()
  const none = new Uint32Array(Math.ceil(order.size / 32))
  const mostMasks = Math.max(64, Math.floor(mostMaskBytes / (order.size / 8)))

  function compiled(grammar: Grammar): Compiled {
    const key = JSON.stringify(grammar)
    const found = known.get(key)
    if (found !== undefined) return found
    const algebra = createAlgebra()
    const start = expressionOf(algebra, grammar, order.markers)
    if (algebra.shortest(start) === Infinity)
      throw new AgogeError('nothing fits the grammar', {
        code: 'bad-grammar',
        given: grammar,
        expected: 'a grammar that at least one finite text fits',
      })
    if (known.size >= mostGrammars) known.delete(known.keys().next().value!)
    const made = { algebra, start, masks: new Map<Expression, TokenMask>(), kept: 0 }
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
      const found = (typeof grammar === 'string' ? undefined : seen.get(grammar)) ?? compiled(grammar)
      if (typeof grammar !== 'string') seen.set(grammar, found)
      const { algebra, start } = found
      let state = start
      return {
        mask(left) {
          const { levels } = maskOf(found, state)
          const near = levels.findLast(({ length }) => length <= left)
          // What cannot come to an end in time goes on as it likes.
          return (near ?? (algebra.accepts(state) ? undefined : levels.at(-1)))?.bits ?? none
        },
        advance(token) {
          const symbols = texts.markers[token] === 1 ? [256 + token] : textOf(texts, token)
          for (const symbol of symbols) state = algebra.derivative(state, symbol)
        },
        get accepting() {
          return algebra.accepts(state)
        },
        get complete() {
          return state === algebra.empty
        },
      }
    },
  }
}

/** A grammar as an expression. `markers`: tokens that stand for no text. */
function expressionOf(algebra: Algebra, grammar: Grammar, markers: readonly number[]): Expression {
  const of = (part: Grammar): Expression => expressionOf(algebra, part, markers)
  if (typeof grammar === 'string') return algebra.text(grammar)
  if ('regex' in grammar)
    return regularExpression(algebra, grammar.regex, (ranges) => utf8(algebra, ranges), false)
  if ('schema' in grammar) return schemaExpression(algebra, grammar)
  if ('choice' in grammar) return algebra.choice(...grammar.choice.map(of))
  if ('sequence' in grammar) return algebra.sequence(...grammar.sequence.map(of))
  if ('repeat' in grammar) return algebra.repeat(of(grammar.repeat), grammar.least, grammar.most)
  if (!markers.includes(grammar.token))
    throw new AgogeError(`token ${grammar.token} of the grammar is not a marker`, {
      code: 'bad-grammar',
      given: grammar,
      expected: 'the id of a special token; texts stand for themselves',
    })
  return algebra.marker(grammar.token)
}
