import { createLocalBackend, initialiseParameters } from 'agoge/unstable/language'
import type { LocalBackend, SamplingWeights } from 'agoge/unstable/language'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { grownConfig } from './model-sizes.ts'
import type { Measured } from './peer.ts'

const prompt = 32
const fresh = 64

/** Name, width, layers. */
const models = [
  ['0.9M', 128, 4],
  ['5M', 256, 6],
  ['26M', 512, 8],
] as const

/** Rows, and calls of a round. */
const batches = [
  [1, 2],
  [8, 2],
  [128, 1],
] as const

/**
 * Whether int8 weights pay for the whole of sampling: weights that have just changed (folded and quantised anew), prompts, tokens and their
 * drawing, in new tokens a second of processor time, over two threads where there are rows for them. The peer is the same with float32.
 */
export async function int8Sampling(): Promise<Measurement[]> {
  const found: Measurement[] = []
  for (const [name, width, layers] of models) {
    const config = grownConfig(width, layers)
    const open = (samplingWeights: SamplingWeights): LocalBackend =>
      createLocalBackend({ config, parameters: initialiseParameters(config, 1), samplingWeights })
    const [int8, float32] = [open('int8'), open('float32')]
    for (const [rows, count] of batches)
      found.push(
        await alternate({
          name: `int8-sampling ${name}, batch ${rows}`,
          unit: 'tokens/s of processor time (peer: float32)',
          amount: rows * fresh,
          count,
          ours: (calls) => sample(int8, rows, calls),
          peer: { measure: (calls) => sample(float32, rows, calls), close: () => {} },
        }),
      )
    await Promise.all([int8, float32].map((backend) => backend.dispose()))
  }
  return found
}

async function sample(backend: LocalBackend, rows: number, calls: number): Promise<Measured> {
  const begin = process.cpuUsage()
  for (let call = 0; call < calls; call++) {
    backend.weightsChanged()
    const requests = Array.from({ length: rows }, (_, row) => ({
      prompt: Int32Array.from({ length: prompt }, (_unused, t) => (row * 7919 + t * 104_729) % 1024),
      key: row,
    }))
    await backend.sample(requests, { maxTokens: fresh, stop: [], temperature: 1, seed: call })
  }
  const { user, system } = process.cpuUsage(begin)
  return { seconds: (user + system) / 1e6 }
}
