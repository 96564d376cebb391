import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { createAdapter, createLoraPrograms, loraSettings, lowRankOf } from '../adapter/lora.ts'
import type { Adapter, LoraOptions } from '../adapter/lora.ts'
import type { TrainingSequence } from '../episode/types.ts'
import type { LossName, LossSettings } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { initialiseParameters } from '../model/parameters.ts'
import type { ParameterLayout } from '../model/parameters.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { forwardBackward } from './custom-loss.ts'
import { createLearner } from './learner.ts'
import type { LearnerOptions } from './learner.ts'
import { createLocalBackend } from './local-backend.ts'
import { lossReport } from './loss-report.ts'
import { createParallelLearner } from './parallel-learner.ts'
import { createThreads } from './threads.ts'

const random = createRandom(11)
const sequencesOf = (lengths: readonly number[]) =>
  lengths.map((length): TrainingSequence => {
    const each = (of: () => number) => Float32Array.from({ length }, of)
    return {
      tokens: Int32Array.from({ length }, () => random.int(64)),
      logprobs: each(() => -4 - random.next()),
      advantages: each(() => random.normal()),
      weights: { rl: each(() => random.int(2)), ce: each(() => 0.5 * random.int(2)), kl: each(() => 0.1) },
    }
  })
const sequences = sequencesOf([5, 18, 9, 30, 12, 7])

/** A model with weights large enough that every part matters, and an adapter that changes it. */
async function adapted(change: Partial<TransformerConfig>, lora: LoraOptions) {
  const config = { ...tinyConfig, ...change }
  const parameters = initialiseParameters(config, 1)
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.2 * random.normal()
  const adapter = createAdapter(parameters, loraSettings(lora, parameters.layout, config))
  for (let i = 0; i < adapter.data.length; i++) adapter.data[i] += 0.1 * random.normal()
  const programs = createLoraPrograms(adapter, parameters, 1)
  await programs.merge()
  await programs.release()
  return { config, parameters, adapter, lowRank: lowRankOf(adapter, parameters.layout) }
}

/** The adapter's gradient from that of all weights, in double precision: dA = s B^T dW, dB = s dW A^T. */
function projected(
  adapter: Adapter,
  scale: number,
  whole: ParameterLayout,
  dense: Float32Array,
): Float32Array {
  const found = new Float32Array(adapter.layout.size)
  const { rank, modules } = adapter.settings
  for (const [i, module] of modules.entries()) {
    const weight = whole.entries.find(({ name }) => name === `${module}.weight`)!
    const [rows, columns] = weight.shape
    const [a, b] = [adapter.layout.entries[2 * i].offset, adapter.layout.entries[2 * i + 1].offset]
    const dW = (row: number, column: number): number => dense[weight.offset + row * columns + column]
    for (let j = 0; j < rank; j++) {
      for (let column = 0; column < columns; column++) {
        let sum = 0
        for (let row = 0; row < rows; row++) sum += adapter.data[b + row * rank + j] * dW(row, column)
        found[a + j * columns + column] = scale * sum
      }
      for (let row = 0; row < rows; row++) {
        let sum = 0
        for (let column = 0; column < columns; column++)
          sum += adapter.data[a + j * columns + column] * dW(row, column)
        found[b + row * rank + j] = scale * sum
      }
    }
  }
  return found
}

function expectClose(found: Float32Array, expected: Float32Array, tolerance: number): void {
  expect(found.length).toBe(expected.length)
  const largest = Math.max(...expected.map(Math.abs))
  expect(largest).toBeGreaterThan(0.01)
  const worst = Math.max(...found.map((value, i) => Math.abs(value - expected[i])))
  expect(worst / largest).toBeLessThan(tolerance)
}

const everything = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj']
const llama = {}
const qwen2 = { model_type: 'qwen2' } as const
const qwen3 = { model_type: 'qwen3', tie_word_embeddings: false } as const
const ppo = { name: 'ppo', clipHigh: 0.3 } as const

const withoutReward = (sequence: TrainingSequence): TrainingSequence => ({
  ...sequence,
  weights: { ...sequence.weights, rl: sequence.weights.rl.map(() => 0) },
})

interface Case {
  model: Partial<TransformerConfig>
  lora?: Partial<LoraOptions>
  options?: Partial<LearnerOptions>
  loss?: LossSettings
  lengths?: readonly number[]
}

const losses: readonly LossName[] = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo']
const cases: Record<string, Case> = {
  ...Object.fromEntries(losses.map((name): [string, Case] => [name, { model: llama, loss: { name } }])),
  biases: { model: qwen2 },
  'norms of heads, and the output matrix': { model: qwen3, lora: { targets: [...everything, 'lm_head'] } },
  'only the output matrix': { model: qwen3, lora: { targets: ['lm_head'] } },
  'an entropy bonus': { model: llama, loss: { ...ppo, entropyCoefficient: 0.2 } },
  'an entropy bonus and the output matrix': {
    model: qwen3,
    lora: { targets: ['lm_head', 'v_proj'] },
    loss: { ...ppo, entropyCoefficient: 0.2 },
  },
  'some parts of the upper block': { model: llama, lora: { targets: ['k_proj', 'down_proj'], layers: [1] } },
  'packed rows': { model: llama, options: { packing: 40, tokenBudget: 80 } },
  'recomputed blocks': { model: qwen2, options: { recompute: true } },
  'recomputed blocks, the output matrix and the upper block': {
    model: qwen3,
    lora: { targets: ['lm_head', 'q_proj'], layers: [1] },
    options: { recompute: true },
  },
  'rows in blocks': {
    model: { max_position_embeddings: 1024 },
    options: { tokenBudget: 1024 },
    lengths: [700, 20],
  },
}

for (const [name, { model, lora, options, loss = ppo, lengths }] of Object.entries(cases)) {
  test(`${name}: the adapter's gradient is that of the weights, projected`, async () => {
    const { config, parameters, adapter, lowRank } = await adapted(model, { rank: 3, alpha: 5, ...lora })
    const given = lengths === undefined ? sequences : sequencesOf(lengths)
    const batch = loss.name === 'cross_entropy' ? given.map(withoutReward) : given
    const shared = { config, parameters, threads: 1, tokenBudget: 64, ...options }
    const [whole, own] = [createLearner(shared), createLearner({ ...shared, lowRank })]
    // Gradients of calls add up.
    for (const learner of [whole, own]) await learner.forwardBackward(batch.slice(0, 2), loss)
    const [expected, found] = [
      await whole.forwardBackward(batch, loss),
      await own.forwardBackward(batch, loss),
    ]
    expect(lossReport([found]).loss).toBeCloseTo(lossReport([expected]).loss, 3)
    const bySum = projected(adapter, lowRank.scale, parameters.layout, whole.gradient)
    expectClose(own.gradient, bySum, 2e-6)
    await Promise.all([whole.dispose(), own.dispose()])
  })
}

test('the gradient is that of finite differences', async () => {
  const made = await adapted(qwen3, { rank: 2, targets: [...everything, 'lm_head'] })
  const { adapter, parameters, lowRank } = made
  const learner = createLearner({ ...made, threads: 1, tokenBudget: 256 })
  const programs = createLoraPrograms(adapter, parameters, 1)
  const loss = { name: 'importance_sampling' } as const
  await learner.forwardBackward(sequences, loss)
  const gradient = learner.gradient.slice()
  const start = adapter.data.slice()
  const lossAt = async (direction: Float32Array, step: number): Promise<number> => {
    adapter.data.set(start.map((value, i) => value + step * direction[i]))
    await programs.merge()
    return lossReport([await learner.forwardBackward(sequences, loss)]).loss
  }
  // Each matrix alone, so that none hides behind the others.
  for (const { name, offset, size } of adapter.layout.entries) {
    const direction = start.map((_, i) =>
      i >= offset && i < offset + size ? random.normal() / Math.sqrt(size) : 0,
    )
    // Along the gradient for the most part, so that rounding of the loss is small beside the difference.
    const norm = Math.hypot(...gradient.subarray(offset, offset + size))
    for (let i = offset; i < offset + size; i++) direction[i] += (3 * gradient[i]) / norm
    const step = 1e-3
    const difference = ((await lossAt(direction, step)) - (await lossAt(direction, -step))) / (2 * step)
    const slope = direction.reduce((sum, value, i) => sum + value * gradient[i], 0)
    expect(Math.abs(difference / slope - 1), name).toBeLessThan(0.01)
  }
  expect(lowRank.matrices).toHaveLength(15)
  await Promise.all([learner.dispose(), programs.release()])
})

test('two threads give the gradient of one, also after the adapter has changed', async () => {
  const made = await adapted(llama, { rank: 3 })
  const { config, parameters, adapter, lowRank } = made
  const limits = { tokenBudget: 64, cacheBytes: 2 ** 22 }
  const one = createLearner({ ...made, ...limits, threads: 1 })
  const programs = createLoraPrograms(adapter, parameters, 1)
  for (const apart of [false, true]) {
    const threads = createThreads({ config, parameters, lowRank, count: 2, apart, ...limits })
    const two = createParallelLearner({ config, parameters, lowRank, threads, ...limits })
    for (const some of [sequences, sequences.slice(0, 1), sequences]) {
      one.gradient.fill(0)
      two.gradient.fill(0)
      await one.forwardBackward(some, ppo)
      await two.forwardBackward(some, ppo)
      expectClose(two.gradient, one.gradient, 2e-6)
      for (let i = 0; i < adapter.data.length; i++) adapter.data[i] += 0.05 * random.normal()
      await programs.merge()
      threads.weightsChanged()
    }
    await Promise.all([two.dispose(), threads.dispose()])
  }
  await Promise.all([one.dispose(), programs.release()])
})

test('a custom loss moves the adapter as the same built-in loss does', async () => {
  const moved = []
  for (const custom of [false, true]) {
    const backend = createLocalBackend({
      config: tinyConfig,
      seed: 2,
      threads: 1,
      trainable: { lora: { rank: 2 } },
    })
    const before = backend.parameters.data.slice()
    const crossEntropies = sequences.map(withoutReward).map((sequence) => ({
      ...sequence,
      weights: { ...sequence.weights, kl: sequence.weights.kl.map(() => 0) },
    }))
    for (let step = 0; step < 3; step++) {
      await forwardBackward(
        backend,
        crossEntropies,
        custom
          ? (logprobs, given) => ({
              loss: -logprobs.reduce(
                (sum, row, i) => sum + row.reduce((own, value, t) => own + value * given[i].weights.ce[t], 0),
                0,
              ),
              gradients: given.map(({ weights }) => weights.ce.map((weight) => -weight)),
            })
          : { name: 'cross_entropy' },
      )
      await backend.optimStep({ learningRate: 0.01, clip: 1 })
    }
    moved.push(backend.parameters.data.map((value, i) => value - before[i]))
    await backend.dispose()
  }
  expectClose(moved[1], moved[0], 1e-5)
})
