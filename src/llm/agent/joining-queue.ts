import { AgogeError } from '../../error.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import type { SampleQueue } from './sample-queue.ts'

/**
 * Hands requests straight to a backend whose calls join each other's batches: each begins at the next token, ends when its own rows end,
 * and is aborted alone. `limit` is how many rows may be sampled or wait for room at the same time.
 */
export function createJoiningQueue(
  backend: Pick<LocalBackend, 'continuousBatching'>,
  limit = Infinity,
): SampleQueue {
  let load = 0
  return {
    limit,
    get load() {
      return load
    },
    async sample(requests, { signal, onToken }) {
      if (requests.length === 0) return []
      if (load + requests.length > limit) {
        throw new AgogeError('Too many requests wait for the model.', {
          code: 'overloaded',
          given: load,
          expected: `at most ${limit} rows that wait or are being sampled`,
        })
      }
      load += requests.length
      const { maxTokens, stop, temperature, seed } = requests[0]
      const common = { maxTokens, stop, temperature, seed, signal }
      try {
        return await backend.continuousBatching([...requests], { ...common, ...(onToken && { onToken }) })
      } finally {
        load -= requests.length
      }
    },
  }
}
