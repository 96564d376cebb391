import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import { causalLimits, rotaryTable } from '../model/attention.ts'
import type { TransformerConfig } from '../model/config.ts'
import { parseConfig } from '../checkpoint/config-json.ts'
import { createLearner } from './learner.ts'
import { lossReport } from './loss-report.ts'
import { createFolding } from '../model/folded-weights.ts'
import { initialiseParameters, parameterLayout } from '../model/parameters.ts'
import type { Parameters } from '../model/parameters.ts'
import { compileLogits } from '../model/programs.ts'

interface Golden {
  config: Record<string, number>
  cases: {
    num_key_value_heads: number
    tie_word_embeddings: boolean
    tokens: number[][]
    weights: Record<string, { shape: number[]; data: number[] }>
    logits: number[][][]
    loss: number
    gradientNorms: Record<string, number>
  }[]
}

// Made with transformers' LlamaForCausalLM; the file says how.
const golden = JSON.parse(readFileSync(new URL('../golden/llama.json', import.meta.url), 'utf8')) as Golden

const tiny: TransformerConfig = {
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

function goldenModel(which: Golden['cases'][number]): { config: TransformerConfig; parameters: Parameters } {
  const { num_key_value_heads, tie_word_embeddings } = which
  const config = parseConfig({ ...golden.config, num_key_value_heads, tie_word_embeddings })
  const layout = parameterLayout(config)
  const data = new Float32Array(layout.size)
  for (const entry of layout.entries) {
    const given = which.weights[entry.name]
    expect(given.shape).toEqual(entry.shape)
    data.set(given.data, entry.offset)
  }
  return { config, parameters: { layout, data } }
}

function row(
  tokens: number[],
  fields: Partial<Record<'rl' | 'ce' | 'kl' | 'advantages' | 'logprobs', number[]>>,
) {
  const array = (values?: number[]) => Float32Array.from(values ?? tokens.map(() => 0))
  const sequence: TrainingSequence = {
    tokens: Int32Array.from(tokens),
    logprobs: array(fields.logprobs),
    advantages: array(fields.advantages),
    weights: { rl: array(fields.rl), ce: array(fields.ce), kl: array(fields.kl) },
  }
  return sequence
}

/** Weights large enough that every part of the model matters. */
function tinyModel(seed: number, config = tiny): Parameters {
  const parameters = initialiseParameters(config, seed)
  const random = createRandom(seed, 'perturb')
  for (let i = 0; i < parameters.data.length; i++) parameters.data[i] += 0.3 * random.normal()
  return parameters
}

for (const [number, which] of golden.cases.entries()) {
  test(`logits and gradients agree with transformers (case ${number})`, async () => {
    const { config, parameters } = goldenModel(which)
    const program = await compileLogits(config)
    const time = which.tokens[0].length
    const batch = which.tokens.length
    const table = rotaryTable(config, time)
    const half = table.cosine.length / time
    const { logits } = await program.run({
      ...createFolding(parameters, config)(),
      tokens: { data: Int32Array.from(which.tokens.flat()), shape: [batch, time] },
      positions: {
        data: Int32Array.from({ length: batch * time }, (_, i) => i % time),
        shape: [batch, time],
      },
      cosineTable: { data: table.cosine, shape: [time, half] },
      sineTable: { data: table.sine, shape: [time, half] },
      limits: { data: causalLimits(time), shape: [time, time] },
      rows: { data: Int32Array.from({ length: batch * time }, (_, i) => i), shape: [batch * time] },
    })
    const expected = which.logits.flat(2)
    const worst = Math.max(...expected.map((value, i) => Math.abs(value - logits.data[i])))
    expect(worst).toBeLessThan(1e-4)

    const learner = createLearner({ config, parameters, tokenBudget: 64 })
    const sequences = which.tokens.map((tokens) => row(tokens, { ce: tokens.map(() => 1) }))
    const report = await learner.forwardBackward(sequences, { name: 'cross_entropy' })
    expect(report.loss).toBeCloseTo(which.loss, 3)
    for (const { name, offset, size } of parameters.layout.entries) {
      const norm = Math.hypot(...learner.gradient.subarray(offset, offset + size))
      expect(Math.abs(norm / which.gradientNorms[name] - 1), name).toBeLessThan(1e-3)
    }
    await learner.dispose()
    await program.release()
  })
}

test('the gradient of every loss is the slope of the loss', async () => {
  const parameters = tinyModel(1)
  const learner = createLearner({ config: tiny, parameters, tokenBudget: 64 })
  const tokens = [
    [2, 5, 7, 3, 9, 1],
    [4, 4, 11, 0],
  ]
  const old = await learner.forward(tokens.map((each) => Int32Array.from(each)))
  const sequences = tokens.map((each, i) =>
    row(each, {
      logprobs: [...old[i]].map((value, t) => value + [0.1, -0.25, 0.4, -0.05][t % 4]),
      advantages: each.map((_, t) => [1, -0.5, 0.7][t % 3]),
      rl: each.map((_, t) => (t % 2 === 1 ? 0.8 : 0.3)),
      ce: each.map((_, t) => (t % 3 === 0 ? 0.5 : 0)),
      kl: each.map(() => 0.2),
    }),
  )
  // cispo stops the gradient of its ratio, so its loss is no potential of its gradient; see the next test.
  for (const name of ['importance_sampling', 'ppo'] as const) {
    learner.gradient.fill(0)
    await learner.forwardBackward(sequences, { name, clipLow: 0.15, clipHigh: 0.3 })
    const gradient = Float32Array.from(learner.gradient)
    const random = createRandom(4, name)
    for (let trial = 0; trial < 6; trial++) {
      const direction = Float32Array.from(gradient, () => random.normal())
      const start = Float32Array.from(parameters.data)
      const losses: number[] = []
      const step = 1e-3
      for (const sign of [1, -1]) {
        direction.forEach((value, i) => (parameters.data[i] = start[i] + sign * step * value))
        losses.push((await learner.forwardBackward(sequences, { name, clipLow: 0.15, clipHigh: 0.3 })).loss)
      }
      parameters.data.set(start)
      const derivative = (losses[0] - losses[1]) / (2 * step)
      const expected = gradient.reduce((sum, value, i) => sum + value * direction[i], 0)
      expect(Math.abs(derivative - expected)).toBeLessThan(0.02 * Math.hypot(...gradient))
    }
  }
  await learner.dispose()
})

test('at ratio 1 ppo, importance sampling and cispo have the same gradient, weighted log-likelihood', async () => {
  const parameters = tinyModel(2)
  const learner = createLearner({ config: tiny, parameters, tokenBudget: 64 })
  const tokens = [2, 5, 7, 3, 9, 1]
  const [logprobs] = await learner.forward([Int32Array.from(tokens)])
  const advantages = [0, 1, -2, 0.5, 1.5, -1]
  const gradientOf = async (
    sequence: TrainingSequence,
    name: 'ppo' | 'importance_sampling' | 'cispo' | 'cross_entropy',
  ) => {
    learner.gradient.fill(0)
    await learner.forwardBackward([sequence], { name })
    return Float32Array.from(learner.gradient)
  }
  const sequence = row(tokens, { logprobs: [...logprobs], advantages, rl: tokens.map(() => 1) })
  const reference = await gradientOf(row(tokens, { ce: advantages }), 'cross_entropy')
  for (const name of ['ppo', 'importance_sampling', 'cispo'] as const) {
    const found = await gradientOf(sequence, name)
    const error = Math.hypot(...found.map((value, i) => value - reference[i])) / Math.hypot(...reference)
    expect(error, name).toBeLessThan(1e-4)
  }
  const report = lossReport([await learner.forwardBackward([sequence], { name: 'ppo' })])
  expect(report.meanRatio).toBeCloseTo(1, 5)
  expect(report.clipFraction).toBe(0)
  expect(report.tokens).toBe(5)
  await learner.dispose()
})

test('splitting into micro-batches changes neither loss nor gradient, and padding is never trained', async () => {
  const parameters = tinyModel(3)
  const random = createRandom(9)
  const sequences = Array.from({ length: 7 }, () => {
    const tokens = Array.from({ length: 3 + random.int(12) }, () => random.int(12))
    return row(tokens, { ce: tokens.map(() => random.int(2)) })
  })
  const results = []
  for (const tokenBudget of [1, 20, 1000]) {
    const learner = createLearner({ config: tiny, parameters, tokenBudget })
    const report = lossReport([await learner.forwardBackward(sequences, { name: 'cross_entropy' })])
    results.push({ report, gradient: learner.gradient })
    await learner.dispose()
  }
  const [whole] = results
  for (const { report, gradient } of results) {
    expect(report.loss).toBeCloseTo(whole.report.loss, 3)
    expect(report.entropy).toBeCloseTo(whole.report.entropy, 4)
    const error = Math.hypot(...gradient.map((value, i) => value - whole.gradient[i]))
    expect(error / Math.hypot(...whole.gradient)).toBeLessThan(1e-5)
  }
})

test('the entropy is that of the distribution, and bad sequences are named', async () => {
  const parameters = tinyModel(5)
  parameters.data.fill(0, 0, tiny.vocab_size * tiny.hidden_size)
  const learner = createLearner({ config: tiny, parameters, tokenBudget: 64 })
  const trained = [row([1, 2, 3], { ce: [0, 1, 1] })]
  const report = lossReport([await learner.forwardBackward(trained, { name: 'cross_entropy' })])
  expect(report.entropy).toBeCloseTo(Math.log(12), 5)
  expect(report.loss).toBeCloseTo(2 * Math.log(12), 5)
  await expect(learner.forward([Int32Array.of(1, 12)])).rejects.toThrow('outside the vocabulary')
  await expect(learner.forward([new Int32Array(40)])).rejects.toThrow('longer than')
  const rl = row([1, 2], { rl: [0, 1] })
  await expect(learner.forwardBackward([rl], { name: 'cross_entropy' })).rejects.toThrow('rl weights')
  await expect(learner.forward([Int32Array.of(1, 2)], { signal: AbortSignal.abort() })).rejects.toThrow()
  await learner.dispose()
})

test('no position sees later ones, even if they would score far higher', async () => {
  const parameters = tinyModel(6)
  for (const { name, offset, size } of parameters.layout.entries)
    if (/[qk]_proj/.test(name)) for (let i = 0; i < size; i++) parameters.data[offset + i] *= 300
  const learner = createLearner({ config: tiny, parameters, tokenBudget: 64 })
  const tokens = [2, 5, 7, 3, 9, 1, 4, 8]
  const rows = Array.from({ length: 12 }, (_, last) => Int32Array.of(...tokens, last, last))
  const [first, ...others] = await learner.forward(rows)
  expect(new Set(others.map((logprobs) => logprobs[9])).size).toBeGreaterThan(5)
  for (const logprobs of others) expect(logprobs.subarray(0, 8)).toEqual(first.subarray(0, 8))
  await learner.dispose()
})
