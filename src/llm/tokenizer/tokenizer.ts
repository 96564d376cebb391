import { Tokenizer as Library } from '@huggingface/tokenizers'
import { AgogeError } from '../../error.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { TokenTexts } from '../grammar/cursor.ts'
import { packTexts } from '../grammar/cursor.ts'
import { checkLength, createByteTokenizer, unknownToken } from './byte-tokenizer.ts'
import type { TokenizerLayout } from './tokenizer-layout.ts'
import { readAddedTokens } from './tokenizer-layout.ts'

/** All data of a tokenizer. Those of byte-level BPE write bytes as `byteSymbols`. */
export interface TokenizerModel {
  /** The text of every token, indexed by id. */
  tokens: readonly string[]
  /** Which tokens are markers that no text can produce. */
  specialTokens: readonly string[]
  /** Whether texts of results have marks between them (`markedResult`). Only models that were trained so can use them. Default: no. */
  recordMarks?: boolean
  /** Pairs of tokens to merge, in order of priority. */
  merges: readonly (readonly [string, string])[]
  /** Present for a public tokenizer, which splits texts differently from the project's own. */
  layout?: TokenizerLayout
  /** The `tokenizer.json` of a tokenizer other than byte-level BPE; it has no `merges` and no `layout`. */
  json?: string
}

/** Converts between texts and token ids. `createTokenizer` makes one from a `TokenizerModel`. */
export interface Tokenizer {
  readonly vocabularySize: number
  readonly model: TokenizerModel
  /**
   * Token ids of a text, without tokens that a model expects in front. No text produces a special id: `<|end|>` in a
   * text becomes ordinary characters. With `addedTokens`, the names of special and other added tokens become those
   * tokens; use it for the output of a chat template.
   *
   * @throws AgogeError `sequence-too-long` for more tokens than `most`, before the rest of the text is processed
   */
  encode(text: string, options?: { addedTokens?: boolean; most?: number }): Int32Array
  /** Bytes of the longest token, for a lower bound on the number of tokens of a text. */
  readonly longestToken: number
  /**
   * The text of token ids. Invalid UTF-8 becomes U+FFFD. Special tokens appear as their names unless `skipSpecial` is
   * set. Ids without a token give no text, as in transformers: models have rows for more ids than their tokenizer has
   * tokens (151936 and 151665 in Qwen2.5), and may sample them.
   */
  decode(ids: ArrayLike<number>, options?: { skipSpecial?: boolean }): string
  /** The id of a special or other added token; throws for any other name. */
  special(name: string): number
  isSpecial(id: number): boolean
  /** The id of the mark of a record, which has no text; undefined if this tokenizer has no marks or no more of them. */
  mark(record: number): number | undefined
  /** The bytes of a token in a text: the name of a special token, none for an id without token. */
  bytes(id: number): Uint8Array
  /** The text of each token; special tokens have no text. */
  texts(): TokenTexts
}

/** Creates the tokenizer of a model. Throws an `AgogeError` if the model is inconsistent. */
export function createTokenizer(model: TokenizerModel): Tokenizer {
  return model.json === undefined ? createByteTokenizer(model) : createSubwordTokenizer(model, model.json)
}

type Json = Readonly<Record<string, unknown>>

/**
 * A tokenizer other than byte-level BPE: SentencePiece Unigram and BPE (Llama 2, T5), and WordPiece (BERT). Encodes
 * like `tokenizers`, through Hugging Face's JavaScript library. Normalisation may change a text (`Ａ` to `A`), and
 * unknown text becomes the unknown token.
 *
 * @param json the text of its `tokenizer.json`
 * @throws AgogeError `bad-tokenizer` if the library cannot read it
 */
function createSubwordTokenizer(model: TokenizerModel, json: string): Tokenizer {
  const file = parseForeignJson(json) as Json & { model: Json }
  const added = readAddedTokens(file['added_tokens'], 'tokenizer.json', true)
  const ids = new Map(added.map(({ content, id }) => [content, id]))
  const specialIds = new Set(added.filter(({ special }) => special).map(({ id }) => id))
  const withAdded = openLibrary(file)
  const withoutAdded = openLibrary(withoutAddedTokens(file, new Set(ids.keys())))
  const size = model.tokens.length
  const tokenBytes = bytesOfTokens(model.tokens, withAdded, specialIds)
  const longestToken = model.tokens.reduce((longest, { length }) => Math.max(longest, length), 1)

  return {
    model,
    vocabularySize: size,
    longestToken,
    encode(text, { addedTokens = false, most = Infinity } = {}) {
      // A run of unknown characters may become one token, so this bound can refuse a text too early, but only a mostly
      // unknown one.
      checkLength(text.length / longestToken, most)
      if (text === '') return new Int32Array(0)
      const { ids: encoded } = (addedTokens ? withAdded : withoutAdded).encode(text, {
        add_special_tokens: false,
      })
      checkLength(encoded.length, most)
      return Int32Array.from(encoded)
    },
    decode(tokens, { skipSpecial = false } = {}) {
      const known = Array.from(tokens).filter((id) => {
        if (!(Number.isInteger(id) && id >= 0)) throw unknownToken(id)
        return id < size && !(skipSpecial && specialIds.has(id))
      })
      return known.length === 0 ? '' : withAdded.decode(known, { skip_special_tokens: skipSpecial })
    },
    special(name) {
      const id = ids.get(name)
      if (id !== undefined) return id
      throw new AgogeError(`${name} is not a special token of this tokenizer.`, {
        code: 'unknown-special-token',
        given: name,
        expected: `one of ${model.specialTokens.join(' ')}`,
      })
    },
    isSpecial: (id) => specialIds.has(id),
    mark: () => undefined,
    bytes: (id) => tokenBytes(id),
    texts: () => packTexts(model.tokens.map((_, id) => (specialIds.has(id) ? undefined : tokenBytes(id)))),
  }
}

function openLibrary(file: Json): Library {
  try {
    return new Library(file, { clean_up_tokenization_spaces: false })
  } catch (cause) {
    throw new AgogeError('The tokenizer cannot be used.', {
      code: 'bad-tokenizer',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'a tokenizer.json of BPE, Unigram or WordPiece',
      cause,
    })
  }
}

/** The same tokenizer without added tokens in texts: its vocabulary names them by strings that no text contains. */
function withoutAddedTokens(file: Json & { model: Json }, names: ReadonlySet<string>): Json {
  const { vocab, unk_token: unknown, type } = file.model
  const hide = (piece: string, id: number): string =>
    names.has(piece) && piece !== unknown ? `\uE0F2${id}\uE0F2` : piece
  const hidden =
    type === 'Unigram'
      ? (vocab as [string, number][]).map(([piece, score], id) => [hide(piece, id), score])
      : Object.fromEntries(
          Object.entries(vocab as Record<string, number>).map(([piece, id]) => [hide(piece, id), id]),
        )
  return { ...file, added_tokens: [], model: { ...file.model, vocab: hidden } }
}

/** The bytes that a token adds to a text, including the leading space that some tokens have. */
function bytesOfTokens(
  tokens: readonly string[],
  library: Library,
  specialIds: ReadonlySet<number>,
): (id: number) => Uint8Array {
  const encoder = new TextEncoder()
  // Decoders drop the space before the first token, so each token is decoded after another one.
  const anchor = tokens.findIndex((token, id) => /^[a-zA-Z]$/.test(token) && !specialIds.has(id))
  const before = anchor < 0 ? '' : library.decode([anchor])
  const known = new Map<number, Uint8Array>()
  function read(id: number): Uint8Array {
    if (tokens[id] === undefined) return new Uint8Array(0)
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(tokens[id])?.[1]
    if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16))
    const text = library.decode(anchor < 0 ? [id] : [anchor, id])
    return encoder.encode(text.slice(before.length))
  }
  return (id) => {
    const bytes = known.get(id) ?? read(id)
    known.set(id, bytes)
    return bytes
  }
}
