import { AgogeError } from '../error.ts'
import type { SampleOptions, SampleRequest } from './backend.ts'
import type { TransformerConfig } from './config.ts'

/** Throws `AgogeError` for options or prompts that cannot be sampled from, naming the first. */
export function checkRequests(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  config: TransformerConfig,
): void {
  if (!(options.temperature >= 0) || !(options.maxTokens >= 1)) {
    throw new AgogeError('these sampling options cannot be used', {
      code: 'bad-sampling-options',
      given: { temperature: options.temperature, maxTokens: options.maxTokens },
      expected: 'a temperature of 0 or more and at least one token',
    })
  }
  for (const [i, { prompt }] of requests.entries()) {
    if (prompt.length === 0 || prompt.length >= config.max_position_embeddings) {
      throw new AgogeError(`prompt ${i} does not fit the model's window`, {
        code: 'sequence-too-long',
        given: prompt.length,
        expected: `1 to ${config.max_position_embeddings - 1} tokens`,
      })
    }
    const wrong = prompt.find((id) => id < 0 || id >= config.vocab_size)
    if (wrong === undefined) continue
    throw new AgogeError(`prompt ${i} has a token outside the vocabulary`, {
      code: 'bad-token',
      given: wrong,
      expected: `ids from 0 to ${config.vocab_size - 1}`,
    })
  }
}

/** The most tokens that any of these rows can come to. */
export function longestRow(requests: readonly SampleRequest[], maxTokens: number, window: number): number {
  return requests.reduce((most, { prompt }) => Math.max(most, Math.min(window, prompt.length + maxTokens)), 0)
}
