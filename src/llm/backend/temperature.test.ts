import { expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { SampleOptions } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { forwardBackward } from './custom-loss.ts'
import { createLearner } from './learner.ts'
import { createLocalBackend } from './local-backend.ts'
import { lossReport, scoreSequences } from './loss-report.ts'
import { initialiseParameters } from '../model/parameters.ts'
import type { Parameters } from '../model/parameters.ts'

const config: TransformerConfig = {
  vocab_size: 12,
  hidden_size: 8,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 12,
  rope_theta: 10_000,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  max_position_embeddings: 32,
}

/** Weights large enough that distributions are far from uniform. */
function model(seed: number): Parameters {
  const parameters = initialiseParameters(config, seed)
  const random = createRandom(seed, 'perturb')
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.3 * random.normal()
  return parameters
}

const drawnAt = [0.7, 1.6, 0, 1, 0.7]

/** Answers at several temperatures, one of them cut by top-p, as rows for the trainer. */
async function sampledRows(backend: ReturnType<typeof createLocalBackend>): Promise<TrainingSequence[]> {
  const options: SampleOptions = { maxTokens: 16, stop: [], temperature: 1, seed: 3 }
  const requests = drawnAt.map((temperature, key) => ({
    prompt: Int32Array.of(1, 2 + key),
    key,
    temperature,
    ...(key === 4 && { topP: 0.6 }),
  }))
  const outputs = await backend.sample(requests, options)
  return outputs.map((output, i) => {
    const length = 2 + output.tokens.length
    const zeros = new Float32Array(length)
    const said = (value: (t: number) => number) => zeros.map((_, t) => (t < 2 ? 0 : value(t)))
    return {
      tokens: Int32Array.of(...requests[i].prompt, ...output.tokens),
      logprobs: Float32Array.of(0, 0, ...output.logprobs),
      advantages: said((t) => Math.sin(3 * t + i)),
      weights: { rl: said(() => 0.1), ce: zeros, kl: said(() => 0.05) },
      temperatures: zeros.map((_, t) => (t < 2 ? 1 : drawnAt[i] || 1)),
    }
  })
}

test('samples at any temperature have ratio 1 before an update: on one thread, on two, by block, packed', async () => {
  const gradients: Float32Array[] = []
  for (const variant of [
    { threads: 1 },
    { threads: 2 },
    { threads: 1, recompute: true },
    { threads: 1, packing: 32 },
  ]) {
    const backend = createLocalBackend({ config, parameters: model(1), ...variant })
    const rows = await sampledRows(backend)
    const scored = await scoreSequences(backend, rows)
    for (const [i, row] of rows.entries())
      for (let t = 2; t < row.tokens.length; t++)
        expect(Math.abs(scored[i][t] - row.logprobs[t])).toBeLessThan(1e-5)
    const own = await backend.forwardBackward(rows, { name: 'ppo' })
    const custom = await forwardBackward(backend, rows, (logprobs, sequences) => ({
      loss: 0,
      gradients: logprobs.map((values, i) => values.map((_, t) => sequences[i].weights.rl[t])),
    }))
    for (const report of [own, custom]) {
      expect(Math.abs(report.meanRatio - 1)).toBeLessThan(1e-5)
      expect(Math.abs(report.maxRatio! - 1)).toBeLessThan(1e-5)
      expect(report.meanDifference).toBeLessThan(1e-5)
    }
    // Scored as if all were drawn at temperature 1 they are far from it.
    const untempered = rows.map(({ tokens, logprobs, advantages, weights }) => ({
      tokens,
      logprobs,
      advantages,
      weights,
    }))
    expect((await backend.forwardBackward(untempered, { name: 'ppo' })).meanDifference).toBeGreaterThan(0.1)
    const before = Float32Array.from(backend.parameters.data)
    await backend.optimStep({ learningRate: 1e-3, epsilon: 1 })
    gradients.push(backend.parameters.data.map((value, i) => value - before[i]))
    await backend.dispose()
  }
  const size = Math.hypot(...gradients[0])
  for (const other of gradients.slice(1))
    expect(Math.hypot(...other.map((value, i) => value - gradients[0][i]))).toBeLessThan(1e-3 * size)
})

test('log-probabilities at a temperature are those of the logits divided by it', async () => {
  const learner = createLearner({ config, parameters: model(2), tokenBudget: 64 })
  const candidates = Array.from({ length: config.vocab_size }, (_, last) => Int32Array.of(3, 7, 1, last))
  const plain = (await learner.forward(candidates)).map((row) => row[3])
  for (const temperature of [0.5, 0.7, 2]) {
    const temperatures = candidates.map(() => Float32Array.of(1, 1, 1, temperature))
    const found = await learner.forward(candidates, { temperatures })
    const logZ = Math.log(plain.reduce((sum, value) => sum + Math.exp(value / temperature), 0))
    for (const [i, row] of found.entries()) {
      expect(row[3]).toBeCloseTo(plain[i] / temperature - logZ, 5)
      // The tokens before it are those of temperature 1.
      expect(row[2]).toBeCloseTo((await learner.forward([candidates[i]]))[0][2], 5)
    }
    const ce = new Float32Array([0, 0, 0, 1])
    const zeros = new Float32Array(4)
    const weights = { rl: zeros, ce, kl: zeros }
    const row = {
      tokens: candidates[5],
      logprobs: zeros,
      advantages: zeros,
      weights,
      temperatures: temperatures[0],
    }
    const { entropy } = lossReport([await learner.forwardBackward([row], { name: 'cross_entropy' })])
    expect(entropy).toBeCloseTo(-found.reduce((sum, each) => sum + Math.exp(each[3]) * each[3], 0), 4)
  }
  // Temperature 1 everywhere changes nothing, bit for bit.
  const ones = candidates.map(() => new Float32Array(4).fill(1))
  expect(await learner.forward(candidates, { temperatures: ones })).toEqual(await learner.forward(candidates))
  await learner.dispose()
})

test('the gradient is the slope of the tempered objective, by finite differences', async () => {
  const backend = createLocalBackend({ config, parameters: model(3), threads: 1 })
  const rows = await sampledRows(backend)
  const random = createRandom(5)
  // Away from ratio 1, so that clips and the divergence matter.
  for (const row of rows) for (let t = 2; t < row.tokens.length; t++) row.logprobs[t] += 0.3 * random.normal()
  await backend.dispose()
  const parameters = model(3)
  for (const recompute of [false, true])
    for (const name of ['ppo', 'importance_sampling'] as const) {
      const learner = createLearner({ config, parameters, tokenBudget: 64, recompute })
      await learner.forwardBackward(rows, { name })
      const gradient = Float32Array.from(learner.gradient)
      const size = Math.hypot(...gradient)
      for (let trial = 0; trial < 4; trial++) {
        const direction = Float32Array.from(gradient, () => random.normal())
        const start = Float32Array.from(parameters.data)
        const losses: number[] = []
        for (const sign of [1, -1]) {
          direction.forEach((value, i) => (parameters.data[i] = start[i] + sign * 1e-3 * value))
          losses.push((await learner.forwardBackward(rows, { name })).loss)
        }
        parameters.data.set(start)
        const expected = gradient.reduce((sum, value, i) => sum + value * direction[i], 0)
        expect(Math.abs((losses[0] - losses[1]) / 2e-3 - expected)).toBeLessThan(0.02 * size)
      }
      await learner.dispose()
    }
})

test('invalid or mismatched temperatures are refused', async () => {
  const learner = createLearner({ config, parameters: model(4), tokenBudget: 64 })
  const tokens = [Int32Array.of(1, 2, 3)]
  const at = (...values: number[]) => learner.forward(tokens, { temperatures: [Float32Array.from(values)] })
  await expect(at(1, 1)).rejects.toMatchObject({ code: 'shape-mismatch', given: 2 })
  await expect(at(1, 0, 1)).rejects.toMatchObject({ code: 'bad-temperature', given: 0 })
  await expect(at(1, NaN, 1)).rejects.toMatchObject({ code: 'bad-temperature' })
  await expect(learner.forward(tokens, { temperatures: [] })).rejects.toMatchObject({
    code: 'shape-mismatch',
  })
  await learner.dispose()
})
