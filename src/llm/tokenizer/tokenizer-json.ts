import { AgogeError } from '../../error.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import {
  type AddedToken,
  gpt2Pattern,
  readAddedTokens,
  readNormalForms,
  readPatterns,
  unusable,
} from './tokenizer-layout.ts'
import { byteSymbols, preTokenPattern } from './byte-tokenizer.ts'
import { markBytes, markNames } from './record-marks.ts'
import type { TokenizerModel } from './tokenizer.ts'

/**
 * Serialises a tokenizer as the text of a Hugging Face `tokenizer.json`. `tokenizers` and `transformers` encode every
 * text alike, except that they convert written names of special tokens to those tokens. A tokenizer read from a file is
 * returned unchanged.
 */
export function tokenizerToJson(model: TokenizerModel): string {
  const read = model.json ?? model.layout?.json
  if (read !== undefined) return read
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false }
  const marked = model.recordMarks === true
  const symbols = markBytes.map((byte) => byteSymbols[byte])
  const tokens = model.tokens.map((token) => (marked && markNames[symbols.indexOf(token)]) || token)
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...model.specialTokens, ...(marked ? markNames : [])].map((content) => ({
      id: tokens.indexOf(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: preTokenPattern }, behavior: 'Isolated', invert: false },
        byteLevel,
      ],
    },
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: model.merges,
    },
  })
}

/**
 * Reads the text of a `tokenizer.json`. Byte-level BPE (Llama 3, Qwen, this project) is exact and fast. SentencePiece
 * (Unigram, BPE) and WordPiece use Hugging Face's library. Throws an `AgogeError` naming the invalid field and `file`.
 */
export function tokenizerFromJson(text: string, file = 'tokenizer.json'): TokenizerModel {
  function check(fits: boolean, field: string, given: unknown, expected: string): asserts fits {
    if (!fits) throw unusable(field, given, expected, file)
  }
  let json: unknown
  try {
    json = parseForeignJson(text)
  } catch (cause) {
    throw new AgogeError(`${file} is not JSON.`, {
      code: 'bad-tokenizer',
      expected: 'a Hugging Face tokenizer.json',
      cause,
    })
  }
  check(isRecord(json) && isRecord(json.model), 'model', json, 'an object with the field model')
  if (isSubword(json.model, json.pre_tokenizer)) return readSubword(json, json.model, text, file)
  const { vocab, merges } = json.model
  check(isRecord(vocab), 'model.vocab', vocab, 'an object of tokens and ids')
  check(Array.isArray(merges), 'model.merges', merges, 'a list of pairs')
  for (const field of ['dropout', 'unk_token', 'continuing_subword_prefix', 'end_of_word_suffix']) {
    const given = json.model[field] ?? ''
    check(given === '' || given === 0, `model.${field}`, given, 'nothing')
  }
  check(json.model.byte_fallback !== true, 'model.byte_fallback', true, 'false')
  const patterns = readPatterns(json.pre_tokenizer, gpt2Pattern, file)
  const normalForms = readNormalForms(json.normalizer, file)
  const added = readAddedTokens(json.added_tokens, file)
  const ignoreMerges = json.model.ignore_merges === true
  const own =
    patterns.join() === preTokenPattern &&
    normalForms.length === 0 &&
    !ignoreMerges &&
    added.every(({ special, normalized }) => special && !normalized)
  const recordMarks = own && markNames.every((name) => added.some(({ content }) => content === name))
  const isMark = (token: string): boolean => recordMarks && markNames.includes(token)
  return {
    tokens: readTokens(Object.entries(vocab), added, check).map((token) =>
      isMark(token) ? byteSymbols[markBytes[markNames.indexOf(token)]] : token,
    ),
    specialTokens: added
      .filter(({ special, content }) => special && !isMark(content))
      .map(({ content }) => content),
    merges: merges.map((merge: unknown, i) => {
      // Before tokenizers 0.20 a merge was one string with a space between its parts.
      const pair: unknown = typeof merge === 'string' ? merge.split(' ') : merge
      check(isPair(pair), `model.merges[${i}]`, merge, 'two tokens')
      return pair
    }),
    ...(recordMarks && { recordMarks }),
    ...(own ? {} : { layout: { normalForms, patterns, ignoreMerges, added, json: text } }),
  }
}

type Check = (fits: boolean, field: string, given: unknown, expected: string) => void

/** Whether it is not byte-level BPE, whose last pre-tokenizer step is `ByteLevel`. */
function isSubword({ type }: Json, preTokenizer: unknown): boolean {
  if (type !== 'BPE') return true
  return !JSON.stringify(preTokenizer ?? null).includes('"ByteLevel"')
}

function readSubword(json: Json, model: Json, text: string, file: string): TokenizerModel {
  const check: Check = (fits, field, given, expected) => {
    if (!fits) throw unusable(field, given, expected, file)
  }
  const { type, vocab } = model
  check(
    type === 'BPE' || type === 'Unigram' || type === 'WordPiece',
    'model.type',
    type,
    'BPE, Unigram or WordPiece',
  )
  const pieces = type === 'Unigram' ? vocab : Object.entries(isRecord(vocab) ? vocab : {})
  check(Array.isArray(pieces) && pieces.length > 0, 'model.vocab', vocab, 'tokens')
  const entries = (pieces as unknown[]).map((entry, i): [string, unknown] => {
    const [piece, id] = Array.isArray(entry) ? (entry as unknown[]) : []
    check(typeof piece === 'string', `model.vocab[${i}]`, entry, 'a piece and its score')
    return [piece as string, type === 'Unigram' ? i : id]
  })
  const split = /"behavior":"(MergedWith\w+|Contiguous)"/.exec(
    JSON.stringify(json.pre_tokenizer ?? null),
  )?.[1]
  check(split === undefined, 'pre_tokenizer', split, 'a Split with the behavior Isolated or Removed')
  const added = readAddedTokens(json.added_tokens, file, true)
  return {
    tokens: readTokens(entries, added, check),
    specialTokens: added.filter(({ special }) => special).map(({ content }) => content),
    merges: [],
    json: text,
  }
}

/** The text of every token, indexed by id. */
function readTokens(
  vocab: readonly [string, unknown][],
  added: readonly AddedToken[],
  check: Check,
): string[] {
  const tokens: string[] = []
  for (const [token, id] of [...vocab, ...added.map(({ content, id }) => [content, id] as const)]) {
    const field = `the id of ${JSON.stringify(token)}`
    const isId = typeof id === 'number' && Number.isInteger(id) && id >= 0
    check(isId, field, id, 'an integer')
    const at = id as number
    check(tokens[at] === undefined || tokens[at] === token, field, id, 'an id of its own')
    tokens[at] = token
  }
  for (let id = 0; id < tokens.length; id++)
    check(tokens[id] !== undefined, `token ${id}`, undefined, 'ids without gaps')
  return tokens
}

type Json = Readonly<Record<string, unknown>>

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((side) => typeof side === 'string')
}
