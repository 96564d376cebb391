import { expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { LossSettings } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { forwardBackward } from './custom-loss.ts'
import type { CustomLoss } from './custom-loss.ts'
import { createLearner } from './learner.ts'
import { createLocalBackend } from './local-backend.ts'
import { activationBytes, batchShape, standingBytes } from '../model/memory.ts'
import { makePackedBatches, packedLimits } from '../model/batches.ts'
import { initialiseParameters, parameterLayout } from '../model/parameters.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

const random = createRandom(11)
/** Sequences of very different lengths, two longer than a row of 24; not every token is predicted. */
const sequences = [3, 40, 5, 5, 2, 17, 9, 24, 25, 30, 1, 8, 12, 4].map((length): TrainingSequence => {
  const numbers = (of: () => number) => Float32Array.from({ length }, of)
  return {
    tokens: Int32Array.from({ length }, () => random.int(64)),
    logprobs: numbers(() => -4 - random.next()),
    advantages: numbers(() => random.normal()),
    weights: {
      rl: numbers(() => random.int(2)),
      ce: numbers(() => 0.5 * random.int(2)),
      kl: numbers(() => 0.1 * random.int(2)),
    },
  }
})
const tokens = sequences.map((sequence) => sequence.tokens)

/** Weights large enough that every part of the model matters. */
function perturbed(config: TransformerConfig) {
  const parameters = initialiseParameters(config, 1)
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.2 * random.normal()
  return parameters
}

const losses: LossSettings[] = [
  { name: 'cross_entropy' },
  { name: 'importance_sampling' },
  { name: 'ppo', clipLow: 0.1, clipHigh: 0.3 },
  { name: 'cispo', clipHigh: 1 },
]

function sequencesFor({ name }: LossSettings): TrainingSequence[] {
  if (name !== 'cross_entropy') return sequences
  return sequences.map((each) => ({
    ...each,
    weights: { ...each.weights, rl: each.weights.rl.map(() => 0) },
  }))
}

function expectNear(found: Float32Array, expected: Float32Array, what: string): void {
  const difference = Math.hypot(...found.map((value, i) => value - expected[i]))
  expect(difference / Math.hypot(...expected), what).toBeLessThan(1e-5)
}

// The losses are the same for all architectures.
const models: [string, Partial<TransformerConfig>, LossSettings[]][] = [
  ['llama, a key for two heads', {}, losses],
  ['qwen2, a key a head', { model_type: 'qwen2', num_key_value_heads: 2 }, losses.slice(2, 3)],
  ['qwen3, untied', { model_type: 'qwen3', tie_word_embeddings: false }, losses.slice(2, 3)],
]

test.each(models)(
  '%s: packed, log-probabilities, losses and gradients are those of sequences by themselves',
  async (_, parts, trained) => {
    const config = { ...tinyConfig, ...parts }
    const parameters = perturbed(config)
    const learner = (options: { packing?: number; recompute?: boolean }) =>
      createLearner({ config, parameters, threads: 1, tokenBudget: 50, ...options })
    const [plain, packed, byBlock] = [{}, { packing: 24 }, { packing: 24, recompute: true }].map(learner)
    const expected = await plain.forward(tokens)
    const found = await packed.forward(tokens)
    found.forEach((row, i) =>
      row.forEach((value, t) => expect(Math.abs(value - expected[i][t])).toBeLessThan(1e-5)),
    )
    for (const loss of trained) {
      const sums = []
      const learners = loss.name === 'ppo' ? [plain, packed, byBlock] : [plain, packed]
      for (const each of learners) {
        each.gradient.fill(0)
        sums.push(await each.forwardBackward(sequencesFor(loss), loss))
      }
      for (const [key, value] of Object.entries(sums[0]))
        for (const other of sums.slice(1))
          expect(Math.abs(Reflect.get(other, key) - value), `${loss.name}: ${key}`).toBeLessThan(
            1e-5 * Math.max(1, Math.abs(value)),
          )
      expect(Math.hypot(...plain.gradient)).toBeGreaterThan(0.1)
      expectNear(packed.gradient, plain.gradient, loss.name)
      if (loss.name === 'ppo') expectNear(byBlock.gradient, plain.gradient, 'by block')
    }
    await Promise.all([plain, packed, byBlock].map((each) => each.dispose()))
  },
)

test('no sequence sees its neighbours in the row, even if they would score far higher', async () => {
  const parameters = perturbed(tinyConfig)
  for (const { name, offset, size } of parameters.layout.entries)
    if (/[qk]_proj/.test(name)) for (let i = 0; i < size; i++) parameters.data[offset + i] *= 30
  const learner = createLearner({ config: tinyConfig, parameters, threads: 1, tokenBudget: 64, packing: 32 })
  const middle = Int32Array.of(2, 5, 7, 3, 9, 1)
  const among = async (id: number) => {
    const other = (length: number) => new Int32Array(length).fill(id)
    return (await learner.forward([other(12), middle, other(5), other(9)]))[1]
  }
  const first = await among(0)
  for (const id of [1, 17, 63]) expect(await among(id)).toEqual(first)
  await learner.dispose()
})

test('rows have the given length and are filled first fit; longer sequences get rows of their own', () => {
  const batches = makePackedBatches(
    tokens,
    24,
    (_time, packed) => (packed ? 2 : 1),
    () => true,
  )
  const shapes = batches.map(({ count, time, packed }) => [count, time, packed])
  expect(shapes.slice(0, 2)).toEqual([
    [1, 39, false],
    [1, 29, false],
  ])
  expect(shapes.slice(2).every(([, time, packed]) => time === 24 && packed)).toBe(true)
  const rows = batches
    .slice(2)
    .flatMap(({ count, time, positions }) =>
      Array.from({ length: count }, (_, row) => positions.subarray(row * time, (row + 1) * time)),
    )
  const read = tokens.map(({ length }) => length - 1).filter((time) => time > 0 && time <= 24)
  expect(rows.length).toBe(Math.ceil(read.reduce((sum, time) => sum + time, 0) / 24))
  expect([...rows[1]].flatMap((position, t) => (position === 0 ? [t] : []))).toEqual([0, 23])
  const predicted = batches.flatMap((batch) =>
    batch.predicted.map(({ source, index }) => `${source} ${index}`),
  )
  expect(new Set(predicted).size).toBe(predicted.length)
  expect(predicted.length).toBe(tokens.reduce((sum, { length }) => sum + length - 1, 0))
  for (const batch of batches)
    batch.predicted.forEach(({ source, index }, i) => {
      expect(batch.tokens[batch.rows[i]]).toBe(tokens[source][index - 1])
      expect(batch.positions[batch.rows[i]]).toBe(index - 1)
      expect(batch.targets[i]).toBe(tokens[source][index])
    })
})

test('limits of a packed row are blocks along the diagonal', () => {
  const limits = packedLimits({ positions: Int32Array.of(0, 1, 2, 0, 1, 0), time: 6 })
  const seen = [...limits].map((limit) => (limit > 0 ? 1 : 0))
  const rows = Array.from({ length: 6 }, (_, t) => seen.slice(6 * t, 6 * t + 6).join(''))
  expect(rows).toEqual(['100000', '110000', '111000', '000100', '000110', '000001'])
})

test('a packing backend trains like one that pads, with threads and custom losses, and repeats bit for bit', async () => {
  const squares: CustomLoss = (rows) => ({
    loss: rows.flatMap((row) => [...row]).reduce((sum, value) => sum + value * value, 0),
    gradients: rows.map((row) => row.map((value) => 2 * value)),
  })
  const train = async (options: { packing?: number; threads: number }) => {
    const backend = createLocalBackend({ config: tinyConfig, seed: 1, tokenBudget: 64, ...options })
    const found = []
    for (const loss of [losses[2], squares]) {
      const { loss: value } = await forwardBackward(backend, sequences, loss)
      found.push(value, (await backend.optimStep({ learningRate: 1e-3 })).gradientNorm)
    }
    const weights = Float32Array.from(backend.parameters.data)
    await backend.dispose()
    return { found, weights }
  }
  const padded = await train({ threads: 1 })
  const runs = [
    await train({ threads: 2, packing: 32 }),
    await train({ threads: 2, packing: 32 }),
    // Longer than the model's window.
    await train({ threads: 1, packing: 100 }),
  ]
  for (const { found } of runs) found.forEach((value, i) => expect(value / padded.found[i]).toBeCloseTo(1, 4))
  expect(runs[1]).toEqual(runs[0])
})

test('rows count in the memory of a micro-batch, and invalid lengths are refused', () => {
  const need = (recompute: boolean, packed: boolean) =>
    activationBytes(tinyConfig, { rows: 1, time: 64, recompute, packed })
  expect(need(false, true) - need(false, false)).toBe(4 * 64 * 64)
  const shape = (bytes: number) =>
    batchShape(tinyConfig, { tokenBudget: 256, packing: 64, activationBytes: bytes }, 64, { packed: true })
  expect(shape(3 * need(false, true) - 1)).toEqual({ rows: 2, recompute: false })
  expect(shape(need(false, true) - 1)).toMatchObject({ recompute: true })
  expect(() => shape(1000)).toThrow(/row of 64 tokens/)
  const { size } = parameterLayout(tinyConfig)
  const memoryBytes = standingBytes(tinyConfig, { threads: 1, moved: size }) + 2 * need(false, true)
  const options = { config: tinyConfig, threads: 1, memoryBytes }
  expect(() => createLocalBackend({ ...options, packing: 64 })).not.toThrow()
  for (const packing of [0, 1.5, -3])
    expect(() => createLocalBackend({ ...options, packing })).toThrow(
      expect.objectContaining({ code: 'bad-config' }),
    )
})
