import type { PackedExpressions } from './packed-algebra.ts'

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
