import { createLocalBackend } from '../../src/llm/backend/local-backend.ts'
import { createTokenizer } from '../../src/llm/tokenizer/tokenizer.ts'
import { specialTokens } from '../../src/llm/tokenizer/template.ts'
import { trainTokenizer } from '../../src/llm/tokenizer/bpe-train.ts'
import type { LocalBackend } from '../../src/llm/backend/local-backend.ts'
import { tasks } from './task.ts'

const texts = Array.from({ length: 200 }, (_, seed) => {
  const { prompt, problem } = tasks.task({ split: 'train', seed })
  return `${prompt} ${problem.solve().answer}`
})

export const tokenizer = createTokenizer(
  trainTokenizer(texts, { vocabularySize: 8 + 256 + 24, specialTokens: [...specialTokens] }),
)

/** A new transformer of 0.1M parameters. One thread: its batches are too small to divide, and the result depends on the number. */
export function createModel(): LocalBackend {
  return createLocalBackend({
    config: {
      vocab_size: tokenizer.vocabularySize,
      hidden_size: 64,
      num_hidden_layers: 2,
      num_attention_heads: 4,
      num_key_value_heads: 4,
      intermediate_size: 160,
      rope_theta: 10_000,
      rms_norm_eps: 1e-5,
      tie_word_embeddings: true,
      max_position_embeddings: 64,
    },
    seed: 1,
    tokenizer,
    threads: 1,
  })
}
