import { createLocalBackend, smallConfig, initialiseParameters } from 'agoge/llm'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

const prompt = 32
const fresh = 64

/** Batched sampling in new tokens per second, including prefill and drawing, for `count` calls. */
async function samplingOf(rows: number, count: number, name: string): Promise<Measurement> {
  const backend = createLocalBackend({
    config: smallConfig,
    parameters: initialiseParameters(smallConfig, 1),
  })
  let call = 0
  const measured = await alternate({
    name,
    unit: 'tokens/s',
    amount: rows * fresh,
    count,
    async ours(calls) {
      for (let i = 0; i < calls; i++, call++) {
        const requests = Array.from({ length: rows }, (_, row) => ({
          prompt: Int32Array.from(
            { length: prompt },
            (_unused, t) => (call * 31 + row * 7919 + t * 104_729) % 1024,
          ),
          key: row,
        }))
        await backend.sample(requests, { maxTokens: fresh, stop: [], temperature: 1, seed: call })
      }
    },
    peer: await betterPeer('sampling', 1, [String(rows)]),
  })
  await backend.dispose()
  return measured
}

/** At batch size 128. */
export const sampling = (): Promise<Measurement> => samplingOf(128, 2, 'sampling')

/** At batch sizes from 1 to 128. */
export async function samplingBatches(): Promise<Measurement[]> {
  const found = []
  for (const [rows, count] of [
    [1, 10],
    [8, 5],
    [32, 4],
    [128, 2],
  ])
    found.push(await samplingOf(rows, count, `sampling-batch-${rows}`))
  return found
}
