import type { TrainingSequence } from '../episode/types.ts'
import { corpusConversation } from './corpus/conversation.ts'
import type { CorpusStage } from './corpus/conversation.ts'
import { encodeConversation } from '../tokenizer/template.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

export interface CorpusBatch {
  sequences: TrainingSequence[]
  tokens: number
  /** Number of the first conversation after this batch. */
  next: number
}

export interface CorpusBatchOptions {
  seed: number
  /** Default: `general`. */
  stage?: CorpusStage
  /** Maximum tokens of a batch. */
  batchTokens: number
  /** Loss weight of tokens that are not the model's own, relative to 1 for its own. */
  contextWeight: number
  /** Longer conversations are skipped. */
  longest: number
}

/** The conversations of a seed are numbered; another seed gives others. */
export const conversationSeed = (seed: number, index: number): number => seed * 1_000_000_000 + index

/**
 * The batch that begins with conversation `start`, with one sequence per conversation. The weights of the batch sum to 1, so the
 * loss is a mean. Depends only on its arguments.
 */
export function corpusBatch(tokenizer: Tokenizer, start: number, options: CorpusBatchOptions): CorpusBatch {
  const { seed, stage = 'general', batchTokens, contextWeight, longest } = options
  const sequences: TrainingSequence[] = []
  let tokens = 0
  let total = 0
  let next = start
  while (tokens < batchTokens) {
    const encoded = encodeConversation(
      tokenizer,
      corpusConversation(conversationSeed(seed, next), 'train', stage),
    )
    next += 1
    const length = encoded.tokens.length
    if (length > longest) continue
    const ce = new Float32Array(length)
    for (let i = 1; i < length; i += 1) {
      ce[i] = encoded.mask[i] === 1 ? 1 : contextWeight
      total += ce[i]
    }
    const none = new Float32Array(length)
    sequences.push({
      tokens: encoded.tokens,
      logprobs: none,
      advantages: none,
      weights: { rl: none, ce, kl: none },
    })
    tokens += length
  }
  for (const { weights } of sequences) for (let i = 0; i < weights.ce.length; i += 1) weights.ce[i] /= total
  return { sequences, tokens, next }
}
