import type { Grammar } from './grammar/index.ts'

/**
 * How tokens are drawn. Tokens are removed in the order of transformers: grammar, temperature, top-k, top-p of the
 * rest, min-p. The next token is drawn from the remaining tokens in proportion to their probability.
 */
export interface SamplingSettings {
  /** Most tokens to generate, at least 1. A row also ends when the model's window is full. */
  maxTokens: number
  /** Generation ends with any of these ids, which is included in the result. */
  stop: readonly number[]
  /**
   * Generation also ends after any of these: sequences of token ids, or texts. A text may end inside a token, which is
   * then kept whole. Matches that begin in the prompt do not count. Texts need a backend with a tokenizer.
   */
  stopSequences?: readonly (readonly number[] | string)[]
  /**
   * 0 = greedy, with log-probabilities reported at temperature 1. Otherwise they are those of the tempered
   * distribution.
   */
  temperature: number
  seed: number
  /** Keeps only this many of the most probable tokens; among equals the lower ids. Default: all. */
  topK?: number
  /**
   * Keeps the smallest set of most probable tokens whose probabilities sum to at least this. Above 0, at most 1.
   * Default: 1 (all).
   */
  topP?: number
  /** Keeps tokens with at least this fraction of the top token's probability, 0 to 1. Default: 0 (all). */
  minP?: number
  /** Keeps only tokens that the grammar allows, and stop ids where it may end. Needs a backend with a tokenizer. */
  grammar?: Grammar
  /** Reports this many of the most probable tokens at each position. */
  topLogprobs?: number
  /** Whether to report the log-probabilities of the prompt. */
  promptLogprobs?: boolean
}
