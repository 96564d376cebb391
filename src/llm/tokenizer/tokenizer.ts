import type { TokenTexts } from '../grammar/index.ts'
import { createByteTokenizer } from './byte-tokenizer.ts'
import { createSubwordTokenizer } from './subword-tokenizer.ts'
import type { TokenizerLayout } from './tokenizer-layout.ts'

/** All data of a tokenizer. Those of byte-level BPE write bytes as `byteSymbols`. */
export interface TokenizerModel {
  /** The text of every token, indexed by id. */
  tokens: readonly string[]
  /** Which tokens are markers that no text can produce. */
  specialTokens: readonly string[]
  /** Pairs of tokens to merge, in order of priority. */
  merges: readonly (readonly [string, string])[]
  /** Present for a public tokenizer, which splits texts differently from the project's own. */
  layout?: TokenizerLayout
  /** The `tokenizer.json` of a tokenizer other than byte-level BPE; it has no `merges` and no `layout`. */
  json?: string
}

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
  /** The bytes of a token in a text: the name of a special token, none for an id without token. */
  bytes(id: number): Uint8Array
  /** The text of each token; special tokens have no text. */
  texts(): TokenTexts
}

/** Creates the tokenizer of a model. Throws an `AgogeError` if the model is inconsistent. */
export function createTokenizer(model: TokenizerModel): Tokenizer {
  return model.json === undefined ? createByteTokenizer(model) : createSubwordTokenizer(model, model.json)
}
