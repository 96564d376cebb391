import { AgogeError } from '../../error.ts'
import type { Algebra, Expression } from './expression.ts'
import { schemaExpression } from './json-schema.ts'
import type { PackedExpressions } from './packed-algebra.ts'
import { regularExpression, utf8 } from './regular-expression.ts'

/**
 * What a row may say, as plain data: a text stands for itself; a regular expression for all that it matches as a whole; a schema for
 * JSON that it allows; a token for a marker that no text can be.
 */
export type Grammar =
  | string
  | { readonly regex: string }
  | SchemaGrammar
  | { readonly token: number }
  | { readonly choice: readonly Grammar[] }
  | { readonly sequence: readonly Grammar[] }
  | { readonly repeat: Grammar; readonly least?: number; readonly most?: number }
  | CompiledGrammar

export interface SchemaGrammar {
  /** JSON Schema (draft 7 or 2020-12), see `schemaExpression`. */
  readonly schema: { readonly [key: string]: unknown } | boolean
  /** Whether one space may stand behind commas and colons; without, JSON is written as `JSON.stringify` does. */
  readonly spaces?: boolean
}

/** What `createGrammarCompiler` makes of a grammar; it cannot be a part of another one. */
export interface CompiledGrammar {
  /** By which it is known again. */
  readonly compiled: string
  readonly expressions: PackedExpressions
}

/**
 * A grammar as an expression. `markers`: tokens that stand for no text.
 *
 * @throws AgogeError `bad-grammar`, `unsupported-schema` or `unsupported-pattern` for one that cannot be used, or that nothing fits
 */
export function compileGrammar(algebra: Algebra, grammar: Grammar, markers: readonly number[]): Expression {
  const start = expressionOf(algebra, grammar, markers)
  if (algebra.shortest(start) < Infinity) return start
  throw new AgogeError('nothing fits the grammar', {
    code: 'bad-grammar',
    given: grammar,
    expected: 'a grammar that at least one finite text fits',
  })
}

function expressionOf(algebra: Algebra, grammar: Grammar, markers: readonly number[]): Expression {
  const of = (part: Grammar): Expression => expressionOf(algebra, part, markers)
  if (typeof grammar === 'string') return algebra.text(grammar)
  if ('regex' in grammar)
    return regularExpression(algebra, grammar.regex, (ranges) => utf8(algebra, ranges), false)
  if ('schema' in grammar) return schemaExpression(algebra, grammar)
  if ('choice' in grammar) return algebra.choice(...grammar.choice.map(of))
  if ('sequence' in grammar) return algebra.sequence(...grammar.sequence.map(of))
  if ('repeat' in grammar) return algebra.repeat(of(grammar.repeat), grammar.least, grammar.most)
  if ('compiled' in grammar)
    throw new AgogeError('a compiled grammar is part of another one', {
      code: 'bad-grammar',
      expected: 'a compiled grammar by itself, or grammars that are not compiled yet',
    })
  if (!markers.includes(grammar.token))
    throw new AgogeError(`token ${grammar.token} of the grammar is not a marker`, {
      code: 'bad-grammar',
      given: grammar,
      expected: 'the id of a special token; texts stand for themselves',
    })
  return algebra.marker(grammar.token)
}
