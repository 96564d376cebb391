import { createLocalBackend, smallConfig, initialiseParameters } from 'agoge/unstable/language'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

const rows = 128
const prompt = 32
const fresh = 64

/** Batched sampling at batch 128, prefill and the drawing of tokens included, in new tokens a second. */
export async function sampling(): Promise<Measurement> {
  const backend = createLocalBackend({
    config: smallConfig,
    parameters: initialiseParameters(smallConfig, 1),
  })
  let call = 0
  return alternate({
    name: 'sampling',
    unit: 'tokens/s',
    amount: rows * fresh,
    count: 2,
    async ours(count) {
      for (let i = 0; i < count; i++, call++) {
        const requests = Array.from({ length: rows }, (_, row) => ({
          prompt: Int32Array.from(
            { length: prompt },
            (_, t) => (call * 31 + row * 7919 + t * 104_729) % 1024,
          ),
          key: row,
        }))
        await backend.sample(requests, { maxTokens: fresh, stop: [], temperature: 1, seed: call })
      }
    },
    peer: await betterPeer('sampling', 1),
  })
}
