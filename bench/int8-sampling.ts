import { createLocalBackend, initialiseParameters, loadModel } from 'agoge/llm'
import type { LocalBackend, SamplingWeights } from 'agoge/llm'
import { quantiseMatrix } from 'agoge/engine'
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

/** Rows per call, and calls per round. */
const batches = [
  [1, 2],
  [8, 2],
  [128, 1],
] as const

/**
 * Compares sampling with int8 and float32 weights. Includes folding and quantising new weights, prompts, tokens and drawing.
 * Measures new tokens per second of processor time, with two threads if there are enough rows. The peer is float32.
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
    found.push(quantising(name, int8))
    await Promise.all([int8, float32].map((backend) => backend.dispose()))
  }
  return [...found, await mismatch()]
}

/** Time to quantise changed weights. */
function quantising(name: string, { parameters: { layout, data } }: LocalBackend): Measurement {
  const matrices = layout.views
    .filter(({ shape }) => shape.length === 2)
    .map(({ offset, size, shape: [outputs] }) => ({
      matrix: data.subarray(offset, offset + size),
      codes: new Int8Array(size),
      scales: new Float32Array(outputs),
    }))
  const times = Array.from({ length: 5 }, () => {
    const begin = process.cpuUsage()
    for (const { matrix, codes, scales } of matrices) quantiseMatrix(matrix, codes, scales)
    const { user, system } = process.cpuUsage(begin)
    return (user + system) / 1e3
  })
  const middle = times.toSorted((a, b) => a - b)[2]
  return { name: `int8-sampling ${name}, quantising`, ours: middle, peer: null, ratio: null, unit: 'ms' }
}

/** Deviation of the int8 log-probabilities of 64 rows of the base model from float32. The peer is the float32 sampler. */
async function mismatch(): Promise<Measurement> {
  const means: number[] = []
  for (const samplingWeights of ['int8', 'float32'] as const) {
    const { backend, tokenizer } = await loadModel(undefined, { samplingWeights })
    const beginnings = ['Copy: alpha beta gamma. ', '{"path":"/a/b","count":3} ', 'read the file ']
    const requests = Array.from({ length: 64 }, (_, key) => ({
      prompt: tokenizer.encode(beginnings[key % beginnings.length]),
      key,
    }))
    const outputs = await backend.sample(requests, { maxTokens: fresh, stop: [], temperature: 1, seed: 3 })
    const whole = await backend.forward(
      outputs.map(({ tokens }, i) => Int32Array.from([...requests[i].prompt, ...tokens])),
    )
    const distances = outputs.flatMap(({ logprobs }, i) =>
      Array.from(logprobs, (value, t) => Math.abs(value - whole[i][requests[i].prompt.length + t])),
    )
    means.push(distances.reduce((sum, value) => sum + value, 0) / distances.length)
    await backend.dispose()
  }
  const [ours, peer] = means
  return {
    name: 'int8-sampling base model, mismatch',
    ours,
    peer,
    ratio: null,
    unit: 'nats a token (peer: float32)',
  }
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
