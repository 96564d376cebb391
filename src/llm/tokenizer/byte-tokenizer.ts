import { AgogeError } from '../../error.ts'
import { packTexts } from '../grammar/cursor.ts'
import { createAddedSplitter, createSplitter, type TokenizerLayout } from './tokenizer-layout.ts'
import { markBytes } from './record-marks.ts'
import type { Tokenizer, TokenizerModel } from './tokenizer.ts'

/**
 * The printable symbol of every byte, as in GPT-2 and Hugging Face's ByteLevel. Printable Latin-1 characters map to
 * themselves, every other byte to the next code point from U+0100 on.
 */
export const byteSymbols: readonly string[] = (() => {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    return String.fromCharCode(printable ? byte : next++)
  })
})()

/** The byte of a symbol. */
const symbolBytes: ReadonlyMap<string, number> = new Map(byteSymbols.map((symbol, byte) => [symbol, byte]))

/**
 * The pre-tokens: a run of letters, one digit, a run of spaces, a run of newlines, or a run of anything else. They
 * cover every text without gaps, and no token crosses a boundary. JavaScript and Oniguruma read the pattern alike.
 */
export const preTokenPattern = '[\\p{L}\\p{M}]+|\\p{N}| +|\\n+|[^\\p{L}\\p{M}\\p{N} \\n]+'

const preTokenRegex = new RegExp(preTokenPattern, 'gu')

/** Splits a text into its pre-tokens; concatenated they equal the text. */
export function splitPreTokens(text: string): readonly string[] {
  return text.match(preTokenRegex) ?? []
}

/** One number for an ordered pair of token ids. */
export function pairKey(left: number, right: number): number {
  return left * 2 ** 24 + right
}

// Words recur. Longer pre-tokens rarely do and would only fill the memory.
const longestCachedWord = 24
const cachedWords = 50_000

/** Creates the tokenizer of a byte-level BPE model. Throws an `AgogeError` if the model is inconsistent. */
export function createByteTokenizer(model: TokenizerModel): Tokenizer {
  const ids = new Map(model.tokens.map((token, id) => [token, id]))
  const { layout } = model
  const specials = new Map(model.specialTokens.map((name) => [name, idOf(name)]))
  const specialIds = new Set(specials.values())
  const added: TokenizerLayout['added'] =
    layout?.added ?? [...specials].map(([content, id]) => ({ id, content, special: true, normalized: false }))
  for (const { content, id } of added) specials.set(content, id)
  const addedIds = new Set(specials.values())
  const marks = model.recordMarks === true ? markBytes.map((byte) => idOf(byteSymbols[byte])) : []
  const tokenBytes = model.tokens.map((token, id) => {
    if (marks.includes(id)) return new Uint8Array(0)
    return addedIds.has(id) ? new TextEncoder().encode(token) : bytesOf(token)
  })
  const longestToken = tokenBytes.reduce((longest, { length }) => Math.max(longest, length), 1)
  const byteIds = byteSymbols.map(idOf)
  const splitters = layout?.patterns.map(createSplitter)
  const stretches = createAddedSplitter(
    layout ?? { normalForms: [], patterns: [], ignoreMerges: false, added, json: '' },
  )

  const ranks = new Map<number, number>()
  const mergedIds = model.merges.map(([left, right], rank) => {
    const key = pairKey(idOf(left), idOf(right))
    if (!ranks.has(key)) ranks.set(key, rank)
    return idOf(left + right)
  })
  // If two merges produce the same token, a merge can enable a pair with an earlier rank. Then only one merge at a time
  // is exact.
  const oneAtATime = new Set(mergedIds).size < mergedIds.length

  function idOf(token: string): number {
    const id = ids.get(token)
    if (id === undefined) {
      throw new AgogeError(
        `The tokenizer has no token ${JSON.stringify(token)}, though its own tables need it.`,
        {
          code: 'bad-tokenizer',
          given: token,
          expected:
            'every byte, special token, and both sides and the result of every merge in the vocabulary',
        },
      )
    }
    return id
  }

  /** Applies the merges in order of rank, each at all its positions from left to right. */
  function encodeWord(word: string): number[] {
    const bytes = new TextEncoder().encode(word)
    if (layout?.ignoreMerges === true) {
      const whole = ids.get(Array.from(bytes, (byte) => byteSymbols[byte]).join(''))
      if (whole !== undefined) return [whole]
    }
    const parts = Array.from(bytes, (byte) => byteIds[byte])
    for (;;) {
      let best = Infinity
      for (let i = 0; i + 1 < parts.length; i++) {
        const rank = ranks.get(pairKey(parts[i], parts[i + 1]))
        if (rank !== undefined && rank < best) best = rank
      }
      if (best === Infinity) return parts
      const left = idOf(model.merges[best][0])
      const right = idOf(model.merges[best][1])
      let kept = 0
      let merged = false
      for (let i = 0; i < parts.length; i++) {
        if (parts[i] === left && parts[i + 1] === right && !(merged && oneAtATime)) {
          parts[kept++] = mergedIds[best]
          merged = true
          i++
        } else parts[kept++] = parts[i]
      }
      parts.length = kept
    }
  }

  function preTokens(text: string): readonly string[] {
    if (splitters === undefined) return splitPreTokens(text)
    return splitters.reduce((words, split) => words.flatMap(split), [text])
  }

  const cache = new Map<string, number[]>()
  function encodeCached(word: string): number[] {
    if (word.length > longestCachedWord) return encodeWord(word)
    let found = cache.get(word)
    if (found === undefined) {
      if (cache.size >= cachedWords) cache.clear()
      found = encodeWord(word)
      cache.set(word, found)
    }
    return found
  }

  return {
    model,
    vocabularySize: model.tokens.length,
    longestToken,
    encode(text, { addedTokens = false, most = Infinity } = {}) {
      const out: number[] = []
      const encodeStretch = (stretch: string): void => {
        // Each character has at least one byte, so the rest has at least this many tokens.
        checkLength(out.length + stretch.length / longestToken, most)
        for (const word of preTokens(stretch)) {
          for (const id of encodeCached(word)) out.push(id)
          checkLength(out.length, most)
        }
      }
      if (!addedTokens) encodeStretch(stretches.normalise(text))
      else
        for (const part of stretches.split(text)) {
          if ('id' in part) out.push(part.id)
          else encodeStretch(part.text)
        }
      return Int32Array.from(out)
    },
    decode(tokens, { skipSpecial = false } = {}) {
      const out: number[] = []
      for (let i = 0; i < tokens.length; i++) {
        if (!(Number.isInteger(tokens[i]) && tokens[i] >= 0)) throw unknownToken(tokens[i])
        if (skipSpecial && specialIds.has(tokens[i])) continue
        for (const byte of tokenBytes[tokens[i]] ?? []) out.push(byte)
      }
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(out))
    },
    special(name) {
      const id = specials.get(name)
      if (id === undefined) {
        throw new AgogeError(`${name} is not a special token of this tokenizer.`, {
          code: 'unknown-special-token',
          given: name,
          expected: `one of ${model.specialTokens.join(' ')}`,
        })
      }
      return id
    },
    isSpecial: (id) => specialIds.has(id),
    mark: (record) => marks[record - 1],
    bytes: (id) => tokenBytes[id] ?? new Uint8Array(0),
    texts: () =>
      packTexts(
        tokenBytes.map((bytes, id) => (specialIds.has(id) || marks.includes(id) ? undefined : bytes)),
      ),
  }
}

/** @throws AgogeError `sequence-too-long` for more tokens than allowed */
export function checkLength(tokens: number, most: number): void {
  if (tokens <= most) return
  throw new AgogeError('The text has too many tokens.', {
    code: 'sequence-too-long',
    given: `${Math.ceil(tokens)} or more`,
    expected: `at most ${most}`,
  })
}

export function unknownToken(id: number): AgogeError {
  return new AgogeError(`There is no token ${id}.`, {
    code: 'bad-token',
    given: id,
    expected: 'an integer of at least 0',
  })
}

function bytesOf(token: string): Uint8Array {
  return Uint8Array.from(token, (symbol) => {
    const byte = symbolBytes.get(symbol)
    if (byte === undefined) {
      throw new AgogeError(`The token ${JSON.stringify(token)} is not written in byte symbols.`, {
        code: 'bad-tokenizer',
        given: token,
        expected: 'a byte-level vocabulary, or the token listed among the special tokens',
      })
    }
    return byte
  })
}
