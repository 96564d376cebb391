import type { Grammar } from './grammar/index.ts'

/**
 * How rows are drawn. Tokens are taken away in the order of transformers: a grammar, temperature, top-k, top-p of what is left,
 * min-p; the rest is drawn from in proportion.
 */
export interface SamplingSettings {
  /** At least 1; the model's window may end a row before. */
  maxTokens: number
  /** Generation ends with (and includes) any of these ids. */
  stop: readonly number[]
  /**
   * It also ends with any of these: token ids in a row, or texts, which may end inside of a token (that one is kept whole). What
   * the prompt ends with does not count. Texts need a backend with a tokenizer.
   */
  stopSequences?: readonly (readonly number[] | string)[]
  /** 0 = greedy; log-probabilities are then those of temperature 1. Otherwise those of the tempered distribution. */
  temperature: number
  seed: number
  /** Only the so many most probable tokens (of equals those with the lower ids). Default: all. */
  topK?: number
  /** Only the most probable tokens that together have at least this probability. Default: above 0, at most 1 (all). */
  topP?: number
  /** Only tokens with at least this part of the probability of the likeliest. Default: 0 (all) to 1. */
  minP?: number
  /** Only what the grammar allows; stop ids are allowed where it may end. Needs a backend with a tokenizer. */
  grammar?: Grammar
  /** So many of the likeliest tokens are reported at each position. */
  topLogprobs?: number
  /** Whether the log-probabilities of the prompt are reported. */
  promptLogprobs?: boolean
}
