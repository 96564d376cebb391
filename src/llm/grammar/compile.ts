import { AgogeError } from '../../error.ts'
import type { Algebra, Expression } from './expression.ts'
import { schemaExpression } from './json-schema.ts'
import type { PackedExpressions } from './packed-algebra.ts'
import { regularExpression, utf8 } from './regular-expression.ts'

/**
 * What a row may contain, as plain data. A text matches itself, a regular expression everything that it matches as a
 * whole, a schema the JSON that it allows, and a token a marker that no text can produce.
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
  /** Whether to allow one space after commas and colons. Default: none, as `JSON.stringify` writes. */
  readonly spaces?: boolean
}

/** A grammar compiled by `createGrammarCompiler`. It cannot be part of another grammar. */
export interface CompiledGrammar {
  /** Identifies the grammar in caches. */
  readonly compiled: string
  readonly expressions: PackedExpressions
}

/**
 * Compiles a grammar to an expression. `markers`: tokens without text.
 *
 * @throws AgogeError `bad-grammar`, `unsupported-schema` or `unsupported-pattern` for a grammar that is invalid or
 * matches nothing
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
