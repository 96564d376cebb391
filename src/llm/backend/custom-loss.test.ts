import { afterAll, expect, test } from 'vitest'
import { defined } from '../../defined.ts'
import { cispoLoss } from '../algorithm/losses/cispo.ts'
import { dppoLoss } from '../algorithm/losses/dppo.ts'
import { gspoLoss } from '../algorithm/losses/gspo.ts'
import { importanceSamplingLoss, ppoLoss } from '../algorithm/losses/ppo.ts'
import { kimiLoss } from '../algorithm/losses/kimi.ts'
import { klLoss, sampledEntropyLoss, unbiasedKlLoss } from '../algorithm/losses/regularisers.ts'
import { overTokens, type TokenLoss } from '../algorithm/losses/over-tokens.ts'
import { sapoLoss } from '../algorithm/losses/sapo.ts'
import { toprLoss } from '../algorithm/losses/topr.ts'
import type { TrainingSequence } from '../episode/types.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { LossSettings } from '../model-backend.ts'
import type { CustomLoss } from './custom-loss.ts'
import { forwardBackward } from './custom-loss.ts'
import type { LocalBackend } from './local-backend.ts'
import { createLocalBackend } from './local-backend.ts'
import { tinyConfig as config } from '../testing/tiny-model.ts'

const made: LocalBackend[] = []
function backend(): LocalBackend {
  const one = createLocalBackend({ config, seed: 3, threads: 1 })
  // Larger than initial weights, so that every part of the model matters.
  const random = createRandom(3, 'perturb')
  for (let i = 0; i < one.parameters.data.length; i++) one.parameters.data[i] += 0.1 * random.normal()
  one.weightsChanged()
  made.push(one)
  return one
}
afterAll(() => Promise.all(made.map((one) => one.dispose())))

const random = createRandom(5)
const fixed = backend()
/** Rows whose last tokens train, with trainer probabilities close to the sampler's. */
const sequences: TrainingSequence[] = []
const tokens = Array.from({ length: 6 }, () =>
  Int32Array.from({ length: 5 + random.int(6) }, () => random.int(config.vocab_size)),
)
for (const [i, logprobs] of (await fixed.forward(tokens)).entries()) {
  const trained = (of: () => number) => Float32Array.from(tokens[i], (_, t) => (t < 3 ? 0 : of()))
  const advantage = random.normal()
  sequences.push({
    tokens: tokens[i],
    logprobs: logprobs.map((value, t) => (t < 3 ? 0 : value + 0.3 * random.normal())),
    advantages: trained(() => advantage),
    weights: { rl: trained(() => 0.1 + 0.1 * random.next()), ce: trained(() => 0), kl: trained(() => 0.05) },
  })
}
const references = sequences.map(({ logprobs }) => logprobs.map((value) => value && value - 0.1))

/** The gradient of the backend, seen through one step of plain descent: Adam with a huge epsilon divides by it alone. */
async function weightsAfter(
  loss: LossSettings | CustomLoss,
  rows = sequences,
): Promise<{ weights: Float32Array; report: Awaited<ReturnType<typeof forwardBackward>> }> {
  const one = backend()
  const report = await forwardBackward(one, rows, loss)
  await one.optimStep({ learningRate: 1e3, epsilon: 1e3 })
  return { weights: one.parameters.data, report }
}

function expectNear(found: Float32Array, expected: Float32Array, before: Float32Array): void {
  const change = Math.hypot(...expected.map((value, i) => value - before[i]))
  expect(change).toBeGreaterThan(0.01)
  expect(Math.hypot(...found.map((value, i) => value - expected[i])) / change).toBeLessThan(2e-6)
}

const clip = { clipLow: 0.2, clipHigh: 0.28 }
const kl: TokenLoss = (inputs) => klLoss({ ...inputs, referenceLogprobs: inputs.samplerLogprobs }, 'k3')
const pairs: [LossSettings, TokenLoss][] = [
  [{ name: 'ppo', ...clip }, (inputs) => ppoLoss(inputs, clip)],
  [{ name: 'importance_sampling' }, importanceSamplingLoss],
  // The backend's own has no lower bound.
  [{ name: 'cispo', ...clip }, (inputs) => cispoLoss(inputs, { convention: 'trl', cap: 1.28 })],
]

test.each(pairs)('$name: two passes train as the one of the backend', async (settings, rl) => {
  const before = backend().parameters.data
  const own = await weightsAfter(settings)
  const custom = await weightsAfter(overTokens({ rl, kl }))
  expectNear(custom.weights, own.weights, before)
  if (settings.name !== 'cispo') expect(custom.report.loss).toBeCloseTo(own.report.loss, 5)
  expect(custom.report.kl).toBeCloseTo(own.report.kl, 5)
  expect(custom.report.maxRatio).toBeCloseTo(own.report.maxRatio!, 4)
  expect(custom.report.meanDifference).toBeCloseTo(own.report.meanDifference!, 5)
  expect(custom.report.clipFraction).toBeCloseTo(own.report.clipFraction)
})

test('a ratio beyond e^20 is clamped, with a gradient of 0, in one pass as in two', async () => {
  const before = backend().parameters.data
  // The first token is unheard of for the sampler, the second for the trainer; the third is as it was.
  const { tokens, logprobs, weights } = sequences.find((row) => row.tokens.length > 6)!
  const far = logprobs.map((value, t) => (t === 3 ? value - 30 : t === 4 ? value + 30 : value))
  const advantages = weights.rl.map((weight, t) => (weight === 0 ? 0 : t === 3 ? -1 : 1))
  const rows = [{ tokens, logprobs: far, advantages, weights }]
  for (const [settings, rl] of pairs) {
    const own = await weightsAfter(settings, rows)
    expect(Number.isFinite(own.report.loss)).toBe(true)
    expectNear((await weightsAfter(overTokens({ rl, kl }), rows)).weights, own.weights, before)
  }
})

const others: [string, TokenLoss, TokenLoss?][] = [
  ['gspo', (inputs) => gspoLoss(inputs, { clipLow: 0.5, clipHigh: 0.5 })],
  ['sapo', (inputs) => sapoLoss(inputs)],
  ['dppo', (inputs) => dppoLoss(inputs)],
  ['kimi', (inputs) => kimiLoss(inputs, { tau: 0.3 })],
  ['dual clip', (inputs) => ppoLoss(inputs, { ...clip, dualClip: 3 })],
  ['k2 against a reference', importanceSamplingLoss, (inputs) => klLoss(inputs, 'k2')],
  ['unbiased k3', importanceSamplingLoss, (inputs) => unbiasedKlLoss(inputs)],
]

test.each(others)('%s: the gradient of weights is that of the value', async (_, rl, divergence) => {
  const loss = overTokens({ rl, references, ...defined({ kl: divergence }) })
  const one = backend()
  const { data } = one.parameters
  const before = data.slice()
  await forwardBackward(one, sequences, loss)
  await one.optimStep({ learningRate: 1e3, epsilon: 1e3 })
  const gradient = data.map((value, i) => before[i] - value)
  const length = Math.hypot(...gradient)
  // Along its own gradient the value must change by the gradient's length.
  const valueAt = async (step: number): Promise<number> => {
    data.set(before.map((value, i) => value + (step * gradient[i]) / length))
    one.weightsChanged()
    return loss(await one.forward(tokens), sequences).loss
  }
  const h = 5e-3
  const derivative = ((await valueAt(h)) - (await valueAt(-h))) / (2 * h)
  expect(Math.abs(derivative / length - 1)).toBeLessThan(0.01)
})

test('the bonus for entropy from samples has, over all that could be sampled, the gradient of the entropy', async () => {
  const one = backend()
  const { data } = one.parameters
  const before = data.slice()
  const prompt = [5, 17, 3]
  const vocabulary = Array.from({ length: config.vocab_size }, (_, token) => Int32Array.of(...prompt, token))
  const logprobsAt = async () => (await one.forward(vocabulary)).map((row) => row[prompt.length])
  // Every next token once, weighted by its probability under the policy.
  const rows = (await logprobsAt()).map((logprob, token): TrainingSequence => {
    const at = (value: number) => Float32Array.of(0, 0, 0, value)
    const weights = { rl: at(Math.exp(logprob)), ce: at(0), kl: at(0) }
    return { tokens: vocabulary[token], logprobs: at(logprob), advantages: at(0), weights }
  })
  await forwardBackward(one, rows, overTokens({ rl: sampledEntropyLoss }))
  await one.optimStep({ learningRate: 1e3, epsilon: 1e3 })
  const gradient = data.map((value, i) => before[i] - value)
  const length = Math.hypot(...gradient)
  const negativeEntropy = async (step: number): Promise<number> => {
    data.set(before.map((value, i) => value + (step * gradient[i]) / length))
    one.weightsChanged()
    return (await logprobsAt()).reduce((sum, logprob) => sum + Math.exp(logprob) * logprob, 0)
  }
  const h = 5e-3
  const derivative = ((await negativeEntropy(h)) - (await negativeEntropy(-h))) / (2 * h)
  expect(length).toBeGreaterThan(0.01)
  expect(Math.abs(derivative / length - 1)).toBeLessThan(0.03)
})

test('topr: what it trains is stop(taper) A log p', async () => {
  const before = backend().parameters.data
  const settings = { negative: { low: 0, high: 0.9 } }
  const tapered = await weightsAfter(overTokens({ rl: (inputs) => toprLoss(inputs, settings) }))
  const ratios = (await fixed.forward(tokens)).map((logprobs, i) => {
    const { weights, logprobs: sampled, advantages } = sequences[i]
    const log = logprobs.reduce((sum, value, t) => sum + (weights.rl[t] === 0 ? 0 : value - sampled[t]), 0)
    return advantages[4] < 0 ? Math.min(0.9, Math.exp(log)) : 1
  })
  const cloned = sequences.map((sequence, i) => {
    const { advantages, weights } = sequence
    const zeros = new Float32Array(advantages.length)
    const ce = weights.rl.map((weight, t) => weight * ratios[i] * advantages[t])
    return { ...sequence, weights: { rl: zeros, ce, kl: zeros } }
  })
  expectNear(tapered.weights, (await weightsAfter({ name: 'cross_entropy' }, cloned)).weights, before)
})

test('gradients of the wrong shape and non-finite losses are refused before any learning', async () => {
  const one = backend()
  const derivatives = sequences.map((row) => new Float32Array(row.tokens.length))
  await expect(forwardBackward(one, sequences, () => ({ loss: 0, gradients: [] }))).rejects.toMatchObject({
    code: 'shape-mismatch',
  })
  const spoilt = derivatives.map((row, i) => (i === 2 ? row.map(() => NaN) : row))
  await expect(forwardBackward(one, sequences, () => ({ loss: 1, gradients: spoilt }))).rejects.toMatchObject(
    { code: 'non-finite-loss', given: { loss: 1, sequences: [2] } },
  )
  expect((await one.optimStep({ learningRate: 1 })).gradientNorm).toBe(0)
  // A loss of the backend's own says which sequence had no number for an advantage.
  const wrong = sequences.map((row, i) =>
    i === 4 ? { ...row, advantages: row.advantages.map(() => NaN) } : row,
  )
  await expect(forwardBackward(one, wrong, { name: 'ppo' })).rejects.toMatchObject({
    code: 'non-finite-loss',
    given: { sequences: [4] },
  })
})

test('nothing is computed if no token has a gradient', async () => {
  const one = backend()
  const report = await forwardBackward(one, sequences, (logprobs) => ({
    loss: 2,
    gradients: logprobs.map((row) => row.map(() => 0)),
    metrics: { distance: 3 },
  }))
  expect(report).toMatchObject({ loss: 2, tokens: 0, metrics: { distance: 3 } })
})
