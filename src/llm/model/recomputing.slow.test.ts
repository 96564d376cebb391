import { expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { TransformerConfig } from './config.ts'
import { createLearner } from '../backend/learner.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import { activationBytes, batchLimits, batchShape, standingBytes } from './memory.ts'
import { initialiseParameters } from './parameters.ts'
import { crossEntropy, tinyConfig } from '../testing/tiny-model.ts'

const random = createRandom(3)
const sequences = Array.from({ length: 7 }, (): TrainingSequence => {
  const length = 3 + random.int(30)
  const numbers = (of: () => number) => Float32Array.from({ length }, of)
  return {
    tokens: Int32Array.from({ length }, () => random.int(64)),
    logprobs: numbers(() => -4 - random.next()),
    advantages: numbers(() => random.normal()),
    // Not every token is predicted.
    weights: {
      rl: numbers(() => random.int(2)),
      ce: numbers(() => 0.5 * random.int(2)),
      kl: numbers(() => 0.1),
    },
  }
})

/** Weights large enough that every part of the model matters. */
function perturbed(config: TransformerConfig) {
  const parameters = initialiseParameters(config, 1)
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.2 * random.normal()
  return parameters
}

for (const model_type of ['llama', 'qwen2', 'qwen3'] as const) {
  test(`${model_type}: recomputed block by block, loss and gradients are those of the whole graph`, async () => {
    const config = { ...tinyConfig, model_type, tie_word_embeddings: model_type !== 'qwen3' }
    const parameters = perturbed(config)
    const found = []
    for (const recompute of [false, true]) {
      const learner = createLearner({ config, parameters, threads: 1, tokenBudget: 64, recompute })
      const sums = await learner.forwardBackward(sequences, { name: 'ppo' })
      // A second call adds up.
      await learner.forwardBackward(sequences.slice(2, 4), { name: 'ppo' })
      found.push({ sums, gradient: Float32Array.from(learner.gradient) })
      await learner.dispose()
    }
    const [whole, byBlock] = found
    for (const [key, value] of Object.entries(whole.sums))
      expect(Math.abs(byBlock.sums[key as keyof typeof whole.sums] - value), key).toBeLessThan(
        1e-5 * Math.max(1, Math.abs(value)),
      )
    const largest = Math.max(...whole.gradient.map(Math.abs))
    expect(largest).toBeGreaterThan(1)
    whole.gradient.forEach((value, i) => {
      if (Math.abs(byBlock.gradient[i] - value) > 1e-5 * largest) expect.unreachable(`${i}: ${value}`)
    })
  })
}

test('a vocabulary too wide for the head is processed in parts', async () => {
  const config = { ...tinyConfig, vocab_size: 2 ** 19, hidden_size: 4, num_hidden_layers: 1 }
  const parameters = initialiseParameters(config, 1)
  const rows = [0, 1, 2].map((row) => crossEntropy(Array.from({ length: 24 }, (_, t) => row * 999 + t * t)))
  const gradients: Float32Array[] = []
  for (const recompute of [false, true]) {
    const learner = createLearner({ config, parameters, threads: 1, tokenBudget: 1000, recompute })
    await learner.forwardBackward(rows.slice(0, 2), { name: 'cross_entropy' })
    gradients.push(learner.gradient)
    await learner.dispose()
  }
  const largest = gradients[0].reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  let difference = 0
  gradients[0].forEach((value, i) => (difference = Math.max(difference, Math.abs(value - gradients[1][i]))))
  expect(difference).toBeLessThan(1e-5 * largest)
})

test('a memory limit first shrinks micro-batches, then recomputes blocks, then is an error', async () => {
  const need = (rows: number, recompute: boolean) =>
    activationBytes(tinyConfig, { rows, time: 64, recompute })
  const shape = (bytes: number) => batchShape(tinyConfig, { tokenBudget: 256, activationBytes: bytes }, 64)
  expect(batchShape(tinyConfig, { tokenBudget: 256 }, 64)).toEqual({ rows: 4, recompute: false })
  expect(shape(need(9, false))).toEqual({ rows: 4, recompute: false })
  expect(shape(need(2, false) + 1)).toEqual({ rows: 2, recompute: false })
  expect(shape(need(1, false) - 1)).toMatchObject({ recompute: true })
  expect(() => shape(1000)).toThrow(expect.objectContaining({ code: 'memory-budget' }))

  const standing = standingBytes(tinyConfig, { threads: 1, moved: 100 })
  const options = { memoryBytes: standing + need(1, true) + 1 }
  expect(batchLimits(tinyConfig, options, { threads: 1, moved: 100 }).activationBytes).toBe(need(1, true) + 1)
  expect(() => createLocalBackend({ config: tinyConfig, memoryBytes: standing / 2 })).toThrow('does not fit')
})

test('a backend with little memory computes the same gradient norm', async () => {
  const config = { ...tinyConfig, num_hidden_layers: 6 }
  const { size } = initialiseParameters(config, 1).layout
  const room = activationBytes(config, { rows: 1, time: 32, recompute: true })
  const little = standingBytes(config, { threads: 2, moved: size }) + 2 * room + 2
  const norms = []
  for (const memory of [{}, { memoryBytes: little }]) {
    const backend = createLocalBackend({ config, seed: 1, threads: 2, ...memory })
    await backend.forwardBackward(sequences, { name: 'ppo' })
    norms.push((await backend.optimStep({ learningRate: 0 })).gradientNorm)
    await backend.dispose()
  }
  expect(norms[1]).toBeCloseTo(norms[0], 4)
})
