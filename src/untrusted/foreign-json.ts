import { AgogeError, type ErrorCode } from '../error.ts'
import { isRecord } from './schema-check.ts'

/** Deeper JSON is refused where it comes from outside: recursive functions such as `JSON.stringify` would overflow the stack. */
export const deepestJson = 256

/**
 * The nesting depth of brackets in a JSON text. Reads each character once, without recursion.
 *
 * @example
 * nestingOf('[{"a":"[["}]') // 2
 */
export function nestingOf(json: string): number {
  let depth = 0
  let deepest = 0
  let isText = false
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (isText) {
      if (code === backslash) i++
      else if (code === quote) isText = false
    } else if (code === quote) isText = true
    else if (code === openBrace || code === openBracket) deepest = Math.max(deepest, ++depth)
    else if (code === closeBrace || code === closeBracket) depth--
  }
  return deepest
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = Array.from('"\\{}[]', (symbol) =>
  symbol.charCodeAt(0),
)

/**
 * Parses JSON from outside.
 *
 * @param deepest levels. Default: 256; what holds arguments of calls has twice as many
 * @throws SyntaxError for a text that is not JSON, or nested deeper
 */
export function parseForeignJson(text: string, deepest = deepestJson): unknown {
  if (nestingOf(text) > deepest) throw new SyntaxError(`JSON nested more than ${deepest} levels deep`)
  return JSON.parse(text) as unknown
}

/**
 * Parses a JSON object from outside.
 *
 * @param named what the text is of, such as the path of its file
 * @throws AgogeError with this code for another text
 */
export function parseForeignObject(text: string, named: string, code: ErrorCode): Record<string, unknown> {
  let value: unknown
  try {
    value = parseForeignJson(text)
  } catch {
    // Whatever is no object has the same message.
  }
  if (isRecord(value)) return value
  throw new AgogeError(`${named} is not a JSON object`, {
    code,
    given: text.slice(0, 80),
    expected: 'a JSON object',
  })
}
