import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type LossInputs, type LossValue, tokenWeights } from './tokens.ts'
import { adaptEntropyCoefficient, klLoss } from './regularisers.ts'
import { cispoLoss } from './cispo.ts'
import { combineLosses, crossEntropyLoss } from './imitation.ts'
import { importanceSamplingLoss, ppoLoss } from './ppo.ts'

const inputs: LossInputs = {
  logprobs: [-0.1, -1.2, -0.7, -2.0, -0.3, -0.05, -1.5],
  samplerLogprobs: [-0.4, -0.9, -0.7, -4.2, -1.1, -0.9, -1.45],
  advantages: [1, -0.5, 0.7, -1, 0.8, -0.3, 0.2],
  weights: [0.5, 1, 0, 0.25, 1, 0.5, 2],
}

function near({ value, gradient }: LossValue, expected: number | null, derivatives: number[]): void {
  if (expected !== null) expect(value).toBeCloseTo(expected, 5)
  derivatives.forEach((derivative, at) => expect(gradient[at]).toBeCloseTo(derivative, 5))
}

// Golden values and gradients: torch 2.13 autograd over the formulas of verl's core_algos.
test('ppo with clip-higher, and its dual clip, agree with torch', () => {
  const clip = { clipLow: 0.2, clipHigh: 0.28 }
  near(ppoLoss(inputs, clip), 0.9627081, [0, 0, 0, 2.256253, 0, 0.350947, -0.3804918])
  near(ppoLoss(inputs, { ...clip, dualClip: 3 }), -0.5435449, [0, 0, 0, 0, 0, 0.350947, -0.3804918])
  expect(ppoLoss(inputs, clip).clipFraction).toBeCloseTo(3 / 6)
})

test('importance sampling agrees with torch', () => {
  near(
    importanceSamplingLoss(inputs),
    0.1417553,
    [-0.6749294, 0.3704091, 0, 2.256253, -1.7804327, 0.350947, -0.3804918],
  )
})

test('cispo: the two conventions of its cap differ', () => {
  near(
    cispoLoss(inputs, { convention: 'verl', clipLow: 0.2, clipHigh: 0.28 }),
    null,
    [-0.64, 0.4, 0, 0.32, -1.024, 0.192, -0.3804918],
  )
  near(
    cispoLoss(inputs, { convention: 'trl', cap: 1.5 }),
    null,
    [-0.6749294, 0.3704091, 0, 0.375, -1.2, 0.225, -0.3804918],
  )
  expect(() => cispoLoss(inputs, { convention: 'trl', cap: 0 })).toThrow(/cap/)
})

test('cross-entropy and the three estimates of KL agree with torch', () => {
  const kl = { logprobs: inputs.logprobs, referenceLogprobs: inputs.samplerLogprobs, weights: inputs.weights }
  near(crossEntropyLoss(inputs), 5.075, [-0.5, -1, 0, -0.25, -1, -0.5, -2])
  near(klLoss(kl, 'k1'), 1.525, [0.5, 1, 0, 0.25, 1, 0.5, 2])
  near(klLoss(kl, 'k2'), 1.175625, [0.15, -0.3, 0, 0.55, 0.8, 0.425, -0.1])
  near(klLoss(kl, 'k3'), 0.7885473, [0.1295909, -0.3498589, 0, 0.2222992, 0.550671, 0.2862925, -0.1025422])
})

test('gradients agree with finite differences of the values', () => {
  const losses = [
    (rows: LossInputs) => ppoLoss(rows, { clipLow: 0.2, clipHigh: 0.3, dualClip: 3 }),
    importanceSamplingLoss,
    (rows: LossInputs) => klLoss({ ...rows, referenceLogprobs: rows.samplerLogprobs }, 'k3'),
  ]
  const token = fc.record({
    logprob: fc.double({ min: -3, max: -0.01, noNaN: true }),
    sampler: fc.double({ min: -3, max: -0.01, noNaN: true }),
    advantage: fc.double({ min: -2, max: 2, noNaN: true }),
  })
  fc.assert(
    fc.property(token, ({ logprob, sampler, advantage }) => {
      for (const loss of losses) {
        const at = (value: number): LossValue =>
          loss({ logprobs: [value], samplerLogprobs: [sampler], advantages: [advantage], weights: [0.7] })
        const left = at(logprob - 1e-5)
        const right = at(logprob + 1e-5)
        // Skips the kinks of the clip, which have no derivative.
        if (left.clipFraction !== right.clipFraction) return
        const derivative = (right.value - left.value) / 2e-5
        const exact = at(logprob).gradient[0]
        expect(Math.abs(exact - derivative)).toBeLessThan(1e-3 * (1 + Math.abs(derivative)))
      }
    }),
  )
})

test('aggregation folds the normaliser into the weights', () => {
  const lengths = [2, 0, 6]
  const losses = [[1, 3], [], [2, 2, 2, 2, 2, 8]]
  const total = (weights: number[]): number =>
    losses.reduce((sum, tokens, at) => sum + tokens.reduce((s, loss) => s + weights[at] * loss, 0), 0)
  expect(total(tokenWeights(lengths, { mode: 'token-mean' }))).toBeCloseTo(22 / 8)
  expect(total(tokenWeights(lengths, { mode: 'sequence-mean' }))).toBeCloseTo((2 + 3) / 2)
  expect(total(tokenWeights(lengths, { mode: 'constant', length: 10 }))).toBeCloseTo(22 / 20)
})

test('losses of the same tokens can be summed, those of different tokens are refused', () => {
  const policy = ppoLoss(inputs, { clipLow: 0.2, clipHigh: 0.2 })
  const imitation = crossEntropyLoss(inputs)
  const mixed = combineLosses([
    { loss: policy, coefficient: 0.7 },
    { loss: imitation, coefficient: 0.3 },
  ])
  expect(mixed.value).toBeCloseTo(0.7 * policy.value + 0.3 * imitation.value)
  mixed.gradient.forEach((derivative, t) =>
    expect(derivative).toBeCloseTo(0.7 * policy.gradient[t] + 0.3 * imitation.gradient[t], 5),
  )
  expect(mixed.clipFraction).toBe(policy.clipFraction)
  expect(combineLosses([])).toEqual({ value: 0, gradient: new Float32Array(0), clipFraction: 0 })
  const shorter = crossEntropyLoss({ logprobs: [-1], weights: [1] })
  expect(() =>
    combineLosses([
      { loss: policy, coefficient: 1 },
      { loss: shorter, coefficient: 1 },
    ]),
  ).toThrow(/added/)
})

test('the coefficient of entropy rises at or below its target and falls above it, within its bounds', () => {
  const settings = { target: 0.5, step: 0.1, least: 0, most: 0.25 }
  expect(adaptEntropyCoefficient(0.1, 0.5, settings)).toBeCloseTo(0.2)
  expect(adaptEntropyCoefficient(0.2, 0.1, settings)).toBe(0.25)
  expect(adaptEntropyCoefficient(0.05, 0.9, settings)).toBe(0)
})
