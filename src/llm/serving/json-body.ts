import { deepestJson } from '../../untrusted/foreign-json.ts'
import { createJsonOutline, type JsonOutline, type TextInPieces } from '../../untrusted/json-in-turns.ts'
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

const [quote, backslash, comma, colon, letterU] = Array.from('"\\,:u', (symbol) => symbol.charCodeAt(0))
const [openBrace, closeBrace, openBracket, closeBracket] = Array.from('{}[]', (symbol) =>
  symbol.charCodeAt(0),
)

/** Characters of a name of a field. Long texts are parsed in turns, but not long names. */
const longestName = 2 ** 16

const isBlank = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

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
): (piece: string) => boolean {
  let [depth, parts, names, commas, taken] = [0, 0, 0, 0, 0]
  let [isText, isEscaped] = [false, false]
  const textAtOnce = outline?.textAtOnce ?? Infinity
  /** Where a text may be cut next: not in an escape. */
  let cutFrom = 0
  let [textFrom, textLength] = [0, 0]

  function countInText(code: number, at: number): void {
    if (isEscaped) {
      isEscaped = false
      // Four digits follow.
      if (code === letterU) cutFrom = Math.max(cutFrom, at + 5)
      return
    }
    if (at >= cutFrom) {
      outline?.cutText(at)
      cutFrom = at + textAtOnce
    }
    if (code === backslash) isEscaped = true
    else if (code === quote) {
      isText = false
      textLength = at - textFrom
      outline?.closeText(at)
    }
  }

  function count(code: number, at: number): void {
    if (isText) countInText(code, at)
    else if (code === comma) {
      commas++
      outline?.comma(at)
    } else if (code === colon) {
      names++
      if (textLength > longestName) refuse('has too long a name', `at most ${longestName} characters`)
      outline?.colon()
    } else if (code === quote) {
      isText = true
      parts++
      textFrom = at + 1
      cutFrom = textFrom + textAtOnce
      outline?.openText(at)
    } else if (code === openBrace || code === openBracket) {
      parts++
      if (++depth > deepestJson) refuse('is nested too deep', `at most ${deepestJson} levels`)
      outline?.open(at, code === openBrace)
    } else if (code === closeBrace || code === closeBracket) {
      depth--
      outline?.close(at, code === closeBrace)
    }
  }

  return (piece) => {
    let at = 0
    if (!isText) while (at < piece.length && isBlank(piece.charCodeAt(at))) at++
    if (at > 0 && at === piece.length) {
      taken++
      return true
    }
    for (; at < piece.length; at++) count(piece.charCodeAt(at), taken + at)
    taken += piece.length
    if (parts > limits.parts) refuse('has too many parts', `at most ${limits.parts} lists, objects and texts`)
    if (names > limits.names) refuse('has too many parts', `at most ${limits.names} names of fields`)
    if (commas > limits.commas) refuse('has too many values', `at most ${limits.commas}`)
    return false
  }
}

/**
 * Decodes and counts JSON piece by piece, so that a long body never takes the event loop for long, and parses it at the end in
 * turns. Bytes that are no UTF-8 become U+FFFD.
 *
 * @param atOnce brackets, texts, colons and commas that are parsed in one turn. Default: 2,048
 */
export function createJsonReader(limits: JsonLimits, refuse: RefuseJson, atOnce?: number): JsonReader {
  const decoder = new TextDecoder()
  const outline = createJsonOutline(atOnce)
  const count = createJsonCounter(limits, refuse, outline)
  const text = createTextInPieces()
  const take = (piece: string): void => text.push(count(piece) ? ' ' : piece)
  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true })),
    async end() {
      take(decoder.decode())
      try {
        return await parsedInTurns(received(text), outline, inSharedTurn)
      } catch (error) {
        if (error instanceof SyntaxError) return refuse('is not JSON', 'JSON')
        throw error
      }
    },
  }
}

/** Characters of a piece of a long text. In one string the whole would need fresh memory of its length, which the system maps slowly. */
const pieceLength = 2 ** 16

/** A text that comes in pieces, and of which parts are asked for. */
function createTextInPieces(): TextInPieces & { push(piece: string): void } {
  const pieces: { from: number; text: string }[] = []
  let length = 0
  return {
    push(piece) {
      const last = pieces.at(-1)
      if (last !== undefined && last.text.length + piece.length <= pieceLength) last.text += piece
      else pieces.push({ from: length, text: piece })
      length += piece.length
    },
    get length() {
      return length
    },
    slice(start, end) {
      const first = pieces.findLastIndex(({ from }) => from <= start)
      let found = ''
      for (let i = Math.max(first, 0); i < pieces.length && pieces[i].from < end; i++) {
        const { from, text } = pieces[i]
        found += text.slice(Math.max(0, start - from), end - from)
      }
      return found
    },
  }
}
