import type { TokenTexts } from '../grammar/index.ts'
import { createByteTokenizer } from './byte-tokenizer.ts'
import { createSubwordTokenizer } from './subword-tokenizer.ts'
import type { TokenizerLayout } from './tokenizer-layout.ts'

/** All there is to know of a tokenizer, as data. Those of byte-level BPE write bytes as `byteSymbols`. */
export interface TokenizerModel {
  /** The text of every token, at the index that is its id. */
  tokens: readonly string[]
  /** Which of the tokens are markers that no text can become. */
  specialTokens: readonly string[]
  /** Pairs of tokens that become one, the first to be applied first. */
  merges: readonly (readonly [string, string])[]
  /** Of a public tokenizer, whose texts are split otherwise than those of the project's own. */
  layout?: TokenizerLayout
  /** The `tokenizer.json` of one that is not byte-level BPE; it has no `merges` and no `layout`. */
  json?: string
}

export interface Tokenizer {
  readonly vocabularySize: number
  readonly model: TokenizerModel
  /**
   * Token ids of a text, without tokens that a model wants in front. No text gives a special id: `<|end|>` in a text is six
   * ordinary characters and more. With `addedTokens` the names of special and other added tokens become those tokens: for
   * what a chat template wrote.
   *
   * @throws AgogeError `sequence-too-long` for more tokens than `most`, before the rest of the text is looked at
   */
  encode(text: string, options?: { addedTokens?: boolean; most?: number }): Int32Array
  /** Bytes of the longest token: a text of so many characters has at least one token for each as many. */
  readonly longestToken: number
  /**
   * The text of token ids; bytes that are no UTF-8 become U+FFFD. Special tokens show as their names unless `skipSpecial`. Models have
   * rows for more ids than their tokenizers have tokens (151936 of 151665 in Qwen2.5), and may draw them: they are no text, as in
   * transformers.
   */
  decode(ids: ArrayLike<number>, options?: { skipSpecial?: boolean }): string
  /** The id of a special or other added token; throws for any other name. */
  special(name: string): number
  isSpecial(id: number): boolean
  /** The bytes of a token in a text: its name for a special token, none for an id without token. */
  bytes(id: number): Uint8Array
  /** What each token stands for; special tokens stand for no text. */
  texts(): TokenTexts
}

/** The tokenizer of a model. Throws an `AgogeError` where the model contradicts itself. */
export function createTokenizer(model: TokenizerModel): Tokenizer {
  return model.json === undefined ? createByteTokenizer(model) : createSubwordTokenizer(model, model.json)
}
