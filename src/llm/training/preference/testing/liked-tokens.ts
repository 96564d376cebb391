import { createLocalBackend } from '../../../backend/local-backend.ts'
import { smallConfig } from '../../../model/config.ts'
import type { LocalBackend } from '../../../backend/local-backend.ts'
import { createRandom } from '../../../../engine/random/index.ts'
import type { PreferencePair } from '../answers.ts'

/** A vocabulary of 20: 0 begins, 1 ends, 2 and 3 are prompts; of the other sixteen the even ones are liked. */
export const vocabulary = 20
export const end = 1
export const tinyModel = {
  ...smallConfig,
  vocab_size: vocabulary,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 24,
  max_position_embeddings: 32,
}

export const tinyBackend = (seed: number): LocalBackend =>
  createLocalBackend({ config: tinyModel, seed, threads: 1 })

export const promptOf = (i: number): Int32Array => Int32Array.of(0, 2 + (i % 2))

/** Share of an answer's tokens that are liked, which the prompt turns round: after 2 the even ones, after 3 the odd ones. */
export function liking(prompt: Int32Array, tokens: Int32Array): number {
  const wanted = prompt[1] % 2
  const words = tokens.filter((token) => token > 3)
  return words.length === 0 ? 0 : words.filter((token) => token % 2 === wanted).length / words.length
}

/** Pairs of random answers that are not liked alike, the better one first. */
export function likedPairs(count: number, seed: number): PreferencePair[] {
  const random = createRandom('liked', seed)
  const answer = (): Int32Array =>
    Int32Array.of(...Array.from({ length: 2 + random.int(4) }, () => 4 + random.int(16)), end)
  return Array.from({ length: count }, (_, i) => {
    const prompt = promptOf(i)
    for (;;) {
      const [a, b] = [answer(), answer()]
      const difference = liking(prompt, a) - liking(prompt, b)
      if (difference !== 0)
        return difference > 0 ? { prompt, chosen: a, rejected: b } : { prompt, chosen: b, rejected: a }
    }
  })
}
