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
  /** `general` unless told. */
  stage?: CorpusStage
  /** A batch is full with this many tokens. */
  batchTokens: number
  /** Weight in the loss of tokens that are not the model's own, against 1 for those that are. */
  contextWeight: number
  /** Longer conversations are passed over. */
  longest: number
}

/** Conversations of one pretraining are numbered; those of other seeds are others. */
export const conversationSeed = (seed: number, index: number): number => seed * 1_000_000_000 + index

/**
 * The batch that begins with conversation `start`: every conversation a sequence of its own, weighted so that the
 * weights of the batch sum to 1 (the loss is then a mean). A function of its arguments alone.
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
