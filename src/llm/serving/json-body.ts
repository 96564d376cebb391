import { deepestJson } from '../../untrusted/foreign-json.ts'
import { createJsonOutline, type JsonOutline } from '../../untrusted/json-in-turns.ts'
import { parsedInTurns, received, type Untrusted } from '../../untrusted/untrusted.ts'
import { inSharedTurn } from './turns.ts'

/** How much JSON may hold, whatever its length. Reading takes time for each of these. */
export interface JsonLimits {
  /** Lists, objects and texts, names of fields included. */
  parts: number
  /** Names of fields: each takes longer than other texts, if no two are the same. */
  names: number
  /** Commas: one less than the values of each list and object. */
  commas: number
}

/**
 * Of a body that is read in the thread that answers: parsing has turns of the event loop, but what is parsed is gone through at once.
 * A conversation of a thousand texts has 2,000 names, a prompt of ids is one list.
 */
export const bodyLimits: JsonLimits = { parts: 2 ** 15, names: 2 ** 14, commas: 2 ** 16 }

/** Reads the JSON of a body while it arrives. */
export interface JsonReader {
  /** Takes the next bytes. Refuses what is nested too deep or holds too much as soon as it is seen. */
  push(bytes: Uint8Array): void
  /** The value, once all bytes have come. Parses it in turns of the event loop. */
  end(): Promise<Untrusted<unknown>>
}

/** Is called with a description of the problem, and throws the protocol's error. */
export type RefuseJson = (problem: string, expected: string) => never

const [quote, backslash, comma, colon] = Array.from('"\\,:', (symbol) => symbol.charCodeAt(0))
const [openBrace, closeBrace, openBracket, closeBracket] = Array.from('{}[]', (symbol) =>
  symbol.charCodeAt(0),
)

const isBlank = (byte: number): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9

/**
 * Returns a function that counts what JSON holds, piece by piece, and refuses it as soon as it is too much or nested too deep. It
 * returns whether the piece is nothing but blanks between values: megabytes of them mean as much as one.
 *
 * @param outline is told what is where, if of each piece of blanks one is kept
 */
export function createJsonCounter(
  limits: JsonLimits,
  refuse: RefuseJson,
  outline?: JsonOutline,
): (bytes: Uint8Array) => boolean {
  let [depth, parts, names, commas, taken] = [0, 0, 0, 0, 0]
  let [isText, isEscaped] = [false, false]

  /** Brackets, quotes, commas and colons are single bytes in UTF-8, and no byte of another character equals them. */
  function count(byte: number, at: number): void {
    if (isText) {
      if (isEscaped) isEscaped = false
      else if (byte === backslash) isEscaped = true
      else if (byte === quote) isText = false
    } else if (byte === comma) {
      commas++
      outline?.comma(at)
    } else if (byte === colon) {
      names++
      outline?.count()
    } else if (byte === quote) {
      isText = true
      parts++
      outline?.count()
    } else if (byte === openBrace || byte === openBracket) {
      parts++
      if (++depth > deepestJson) refuse('is nested too deep', `at most ${deepestJson} levels`)
      outline?.open(at, byte === openBrace)
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--
      outline?.close(at, byte === closeBrace)
    }
  }

  return (bytes) => {
    let at = 0
    if (!isText) while (at < bytes.length && isBlank(bytes[at])) at++
    if (at > 0 && at === bytes.length) {
      taken++
      return true
    }
    for (; at < bytes.length; at++) count(bytes[at], taken + at)
    taken += bytes.length
    if (parts > limits.parts) refuse('has too many parts', `at most ${limits.parts} lists, objects and texts`)
    if (names > limits.names) refuse('has too many parts', `at most ${limits.names} names of fields`)
    if (commas > limits.commas) refuse('has too many values', `at most ${limits.commas}`)
    return false
  }
}

/**
 * Counts JSON piece by piece, so that a long body never takes the event loop for long, and parses it at the end in turns. Bytes
 * that are no UTF-8 become U+FFFD.
 *
 * @param atOnce brackets, texts, colons and commas that are parsed in one turn. Default: 2,048
 */
export function createJsonReader(limits: JsonLimits, refuse: RefuseJson, atOnce?: number): JsonReader {
  const outline = createJsonOutline(atOnce)
  const count = createJsonCounter(limits, refuse, outline)
  const pieces: Uint8Array[] = []
  return {
    push(bytes) {
      pieces.push(count(bytes) ? bytes.subarray(0, 1) : bytes)
    },
    async end() {
      try {
        return await parsedInTurns(received(Buffer.concat(pieces)), outline, inSharedTurn)
      } catch (error) {
        if (error instanceof SyntaxError) return refuse('is not JSON', 'JSON')
        throw error
      }
    },
  }
}
