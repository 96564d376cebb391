import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { LossInputs, LossValue, SequenceLossInputs } from './tokens.ts'
import { importanceWeights, type MismatchInputs, offPolicyMask } from './corrections.ts'
import { cispoLoss } from './cispo.ts'
import { combineLosses, crossEntropyLoss, distillationLoss, highEntropyWeights } from './imitation.ts'
import { dppoLoss } from './dppo.ts'
import { entropies, entropyLoss, highEntropyMask, klLoss, unbiasedKlLoss } from './regularisers.ts'
import { gspoLoss } from './gspo.ts'
import { importanceSamplingLoss, ppoLoss } from './ppo.ts'
import { kimiLoss } from './kimi.ts'
import { sapoLoss } from './sapo.ts'
import { toprLoss } from './topr.ts'
import { valueLoss } from '../advantages/critics.ts'

type Batch = SequenceLossInputs & { logprobs: number[]; referenceLogprobs: number[]; weights: number[] }
interface Expected {
  value: number
  gradient: number[]
}
type Loss = (inputs: Batch, settings: never) => LossValue

// Made by golden/make_losses_golden.py.
const golden = JSON.parse(readFileSync(new URL('golden/losses.json', import.meta.url), 'utf8')) as {
  batches: Record<string, Batch>
  losses: ({ name: string; settings: never } & Record<string, Expected>)[]
  importanceWeights: ({ settings: never } & Record<string, number[]>)[]
  offPolicyMask: Record<string, number[]>
  logits: {
    vocabulary: number
    logits: number[]
    teacherLogits: number[]
    weights: number[]
    entropies: number[]
    highEntropy: number[]
    entropy: Expected
    distillation: (Expected & { beta: number })[]
  }
  value: (Expected & { inputs: Parameters<typeof valueLoss>[0]; settings: { clip?: number } })[]
  highEntropyWeights: number[]
  mixed: ({ mu: number; coefficient: number } & Record<string, Expected>)[]
  highEntropy: { entropy: number[]; weights: number[]; share: number; mask: number[] }[]
}

const functions: Record<string, Loss> = {
  ppo: ppoLoss,
  importanceSampling: importanceSamplingLoss,
  cispo: cispoLoss,
  gspo: gspoLoss,
  sapo: sapoLoss,
  topr: toprLoss,
  dppo: dppoLoss,
  kimi: kimiLoss,
  kl: (inputs: Batch, { estimator }: { estimator: 'k1' | 'k2' | 'k3' }) => klLoss(inputs, estimator),
  unbiasedKl: unbiasedKlLoss,
}

function near(actual: ArrayLike<number>, expected: readonly number[], label: string): void {
  expect(actual.length, label).toBe(expected.length)
  expected.forEach((value, t) =>
    expect(Math.abs(actual[t] - value), `${label} ${t}: ${actual[t]} for ${value}`).toBeLessThanOrEqual(
      1e-7 + 1e-6 * Math.abs(value),
    ),
  )
}

function nearLoss(
  actual: { value: number; gradient: Float32Array },
  expected: Expected,
  label: string,
): void {
  near([actual.value], [expected.value], `${label} value`)
  near(actual.gradient, expected.gradient, `${label} gradient`)
}

const names = Object.keys(golden.batches)

for (const entry of golden.losses)
  test(`${entry.name} ${JSON.stringify(entry.settings)} agrees with torch`, () => {
    for (const name of names)
      nearLoss(functions[entry.name](golden.batches[name], entry.settings), entry[name], name)
  })

test('importance weights agree with torch at each level and in each mode', () => {
  for (const entry of golden.importanceWeights)
    for (const name of names) {
      const result = importanceWeights(golden.batches[name], entry.settings)
      near(result.weights, entry[name], `${JSON.stringify(entry.settings)} ${name}`)
    }
})

test('importance weights report the mean ratio and the remaining share, and need no starts at level token', () => {
  const rows: MismatchInputs = { logprobs: [-1, -2, -3], samplerLogprobs: [-1, -3, -3], weights: [1, 1, 0] }
  const masked = importanceWeights(rows, { level: 'token', mode: 'mask', high: 2 })
  expect(Array.from(masked.weights)).toEqual([1, 0, 0])
  expect(masked.meanRatio).toBeCloseTo((1 + Math.E) / 2)
  expect(masked.kept).toBe(0.5)
  expect(() => importanceWeights(rows, { level: 'sequence', mode: 'mask', high: 2 })).toThrow(/starts/)
})

test('the mask of stale failures agrees with TRL', () => {
  for (const name of names)
    near(offPolicyMask(golden.batches[name], { threshold: 0.05 }), golden.offPolicyMask[name], name)
})

test('entropy, its bonus and its mask, and distillation agree with torch', () => {
  const { vocabulary, logits, teacherLogits, weights } = golden.logits
  const inputs = { vocabulary, logits, teacherLogits, weights }
  near(entropies(inputs), golden.logits.entropies, 'entropies')
  nearLoss(entropyLoss(inputs, { coefficient: 0.01 }), golden.logits.entropy, 'entropy')
  near(
    highEntropyMask(golden.logits.entropies, weights, { share: 0.5 }),
    golden.logits.highEntropy,
    'high entropy',
  )
  for (const { beta, ...expected } of golden.logits.distillation)
    nearLoss(distillationLoss(inputs, { beta }), expected, `distillation ${beta}`)
})

test('tokens of probability 0 leave entropy and reverse divergence finite', () => {
  const inputs = { logits: [1, -Infinity, 0], vocabulary: 3, weights: [1] }
  for (const loss of [
    entropyLoss(inputs, { coefficient: 1 }),
    distillationLoss({ ...inputs, teacherLogits: [0, 0, 0] }, { beta: 1 }),
    distillationLoss({ ...inputs, teacherLogits: [0, 0, 0] }, { beta: 0.5 }),
  ]) {
    expect(Number.isFinite(loss.value)).toBe(true)
    expect(loss.gradient.every(Number.isFinite)).toBe(true)
    expect(loss.gradient[1]).toBe(0)
  }
})

test('the loss of the critic agrees with torch, with and without clip', () => {
  for (const { inputs, settings, ...expected } of golden.value)
    nearLoss(valueLoss(inputs, settings), expected, JSON.stringify(settings))
})

test('mixtures of RL, cross-entropy and a divergence agree with torch', () => {
  for (const { mu, coefficient, ...expected } of golden.mixed)
    for (const name of names) {
      const batch = golden.batches[name]
      const loss = combineLosses([
        { loss: ppoLoss(batch, { clipLow: 0.2, clipHigh: 0.28 }), coefficient: 1 - mu },
        { loss: crossEntropyLoss(batch), coefficient: mu },
        { loss: klLoss(batch, 'k3'), coefficient },
      ])
      nearLoss(loss, (expected as Record<string, Expected>)[name], `${mu} ${coefficient} ${name}`)
    }
})

test('the mask of high-entropy tokens agrees with torch, also with one counted token or none', () => {
  for (const { entropy, weights, share, mask } of golden.highEntropy)
    near(highEntropyMask(entropy, weights, { share }), mask, `${weights.join()} ${share}`)
})

test('weights of high-entropy tokens agree with torch', () => {
  const { logprobs, weights } = golden.batches['ordinary']
  near(highEntropyWeights(logprobs, weights), golden.highEntropyWeights, 'highEntropy')
})

test('gradients agree with finite differences of the values', () => {
  const { ordinary, varied } = golden.batches
  // Except losses that stop a gradient on purpose, whose surrogate has another value.
  const losses: [string, (rows: Batch) => LossValue][] = [
    ['ppo', (rows: LossInputs) => ppoLoss(rows, { clipLow: 0.2, clipHigh: 0.3, dualClip: 3 })],
    ['gspo', (rows) => gspoLoss(rows, { clipLow: 0.2, clipHigh: 0.3 })],
    ['sapo', (rows) => sapoLoss(rows)],
    ['kimi', (rows) => kimiLoss(rows, { tau: 0.4 })],
    ['kimi token', (rows) => kimiLoss(rows, { tau: 0.4, level: 'token' })],
    ['k3', (rows) => klLoss(rows, 'k3')],
    ['unbiased', unbiasedKlLoss],
  ]
  for (const batch of [ordinary, varied])
    for (const [name, loss] of losses)
      batch.logprobs.forEach((logprob, t) => {
        const at = (value: number): number =>
          loss({ ...batch, logprobs: batch.logprobs.with(t, value) }).value
        const gradient = (at(logprob + 1e-6) - at(logprob - 1e-6)) / 2e-6
        expect(loss(batch).gradient[t], `${name} ${t}`).toBeCloseTo(gradient, 5)
      })
})

test('both gradients of gspo agree for sequences with one advantage', () => {
  const clip = { clipLow: 0.2, clipHigh: 0.3 }
  const { ordinary } = golden.batches
  near(
    gspoLoss(ordinary, { ...clip, gradient: 'token' }).gradient,
    Array.from(gspoLoss(ordinary, clip).gradient),
    'gspo',
  )
})

test('starts that do not divide the tokens are refused', () => {
  const { ordinary } = golden.batches
  for (const starts of [[1, 4], [0, 5, 3], [0, 99], [0, 1.5], []])
    expect(() => kimiLoss({ ...ordinary, starts }, { tau: 1 })).toThrow(/starts/)
  const none = { logprobs: [], samplerLogprobs: [], advantages: [], weights: [], starts: [] }
  expect(kimiLoss(none, { tau: 1 })).toEqual({ value: 0, gradient: new Float32Array(0), clipFraction: 0 })
})
