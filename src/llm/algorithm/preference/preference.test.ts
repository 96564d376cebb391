import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  dpoLoss,
  type DpoSettings,
  ipoLoss,
  orpoLoss,
  type PreferencePairs,
  type PreferenceValue,
  simpoLoss,
} from './pairs.ts'
import type { JudgedAnswers, KtoSettings } from './kto.ts'
import { bestOf, bestOfKl, expectedBestOf, onlinePairs } from './choice.ts'
import { bradleyTerryLoss, processRewardLoss } from './reward-model.ts'
import { ktoLoss, ktoReference } from './kto.ts'

interface Expected {
  value: number
  chosen: number[]
  rejected: number[]
}
interface ExpectedSingle {
  value: number
  gradient: number[]
}
type Means = Record<'chosen' | 'rejected', number[]>

// Made by golden/make_preference_golden.py.
const golden = JSON.parse(readFileSync(new URL('golden/preference.json', import.meta.url), 'utf8')) as {
  pairs: PreferencePairs & Means
  lengths: Means
  means: Means
  answers: JudgedAnswers & { logprobs: number[] }
  scores: Means
  margins: number[]
  weights: number[]
  dpo: (Expected & { settings: DpoSettings })[]
  dpoWeighted: Expected
  ipo: Expected
  ipoByLength: Expected
  kto: (ExpectedSingle & { settings: KtoSettings })[]
  orpo: (Expected & { settings: { lambda: number; sft: number } })[]
  simpo: (Expected & { settings: { beta: number; gamma: number } })[]
  bradleyTerry: Expected
  bradleyTerryMargins: Expected
  process: ExpectedSingle & { logits: number[]; labels: number[] }
  bestOf: { scores: number[]; outcomes: number[]; of: { n: number; score: number; outcome: number }[] }
}

function near(actual: ArrayLike<number>, expected: readonly number[], label: string): void {
  expect(actual.length, label).toBe(expected.length)
  expected.forEach((value, i) =>
    expect(Math.abs(actual[i] - value), `${label} ${i}: ${actual[i]} for ${value}`).toBeLessThanOrEqual(
      1e-8 + 1e-6 * Math.abs(value),
    ),
  )
}

function nearPairs(actual: PreferenceValue, expected: Expected, label: string): void {
  near([actual.value], [expected.value], `${label} value`)
  near(actual.chosen, expected.chosen, `${label} chosen`)
  near(actual.rejected, expected.rejected, `${label} rejected`)
}

const { pairs, means, scores } = golden

test('dpo agrees with torch: plain, with noise, robust, weighted', () => {
  for (const { settings, ...expected } of golden.dpo)
    nearPairs(dpoLoss(pairs, settings), expected, JSON.stringify(settings))
  nearPairs(dpoLoss({ ...pairs, weights: golden.weights }), golden.dpoWeighted, 'weighted')
  // Margins 3, -2.5, 2, 0, about -2000 and about 2500; a pair that has not moved is not right.
  expect(dpoLoss(pairs).accuracy).toBeCloseTo(3 / 6)
})

test('ipo agrees with torch, over sums and over lengths', () => {
  nearPairs(ipoLoss(pairs), golden.ipo, 'sums')
  nearPairs(ipoLoss(pairs, { tau: 0.2, lengths: golden.lengths }), golden.ipoByLength, 'lengths')
})

test('kto agrees with torch, and its reference point is never negative', () => {
  for (const { settings, ...expected } of golden.kto) {
    const loss = ktoLoss(golden.answers, settings)
    near([loss.value], [expected.value], 'value')
    near(loss.gradient, expected.gradient, 'gradient')
  }
  expect(ktoReference([-1, -2], [-2, -4])).toBe(1.5)
  expect(ktoReference([-5], [-2])).toBe(0)
  expect(ktoReference([], [])).toBe(0)
})

test('orpo and simpo agree with torch', () => {
  for (const { settings, ...expected } of golden.orpo)
    nearPairs(orpoLoss(means, settings), expected, `orpo ${JSON.stringify(settings)}`)
  for (const { settings, ...expected } of golden.simpo)
    nearPairs(simpoLoss(means, settings), expected, `simpo ${JSON.stringify(settings)}`)
})

test('a certain answer keeps orpo finite', () => {
  const loss = orpoLoss({ chosen: [0, -1], rejected: [-1, 0] })
  expect(Number.isFinite(loss.value)).toBe(true)
  expect([...loss.chosen, ...loss.rejected].every(Number.isFinite)).toBe(true)
})

test('bradley-terry and the process reward agree with torch', () => {
  nearPairs(bradleyTerryLoss(scores), golden.bradleyTerry, 'plain')
  const margins = { ...scores, margins: golden.margins }
  nearPairs(bradleyTerryLoss(margins, { centre: 0.01 }), golden.bradleyTerryMargins, 'margins')
  const process = processRewardLoss(golden.process)
  near([process.value], [golden.process.value], 'process value')
  near(process.gradient, golden.process.gradient, 'process gradient')
})

test('gradients agree with finite differences of the values', () => {
  const losses: [string, Means, (inputs: Means) => PreferenceValue][] = [
    ['dpo', pairs, (p) => dpoLoss({ ...pairs, ...p }, { noise: 0.1 })],
    ['ipo', pairs, (p) => ipoLoss({ ...pairs, ...p }, { lengths: golden.lengths })],
    ['orpo', means, (p) => orpoLoss(p)],
    ['simpo', means, (p) => simpoLoss(p)],
    ['bradley-terry', scores, (p) => bradleyTerryLoss(p, { centre: 0.01 })],
  ]
  for (const [name, inputs, loss] of losses)
    for (const side of ['chosen', 'rejected'] as const)
      inputs[side].forEach((value, i) => {
        const step = 1e-6
        const at = (x: number): number => loss({ ...inputs, [side]: inputs[side].with(i, x) }).value
        const gradient = (at(value + step) - at(value - step)) / (2 * step)
        const exact = loss(inputs)[side][i]
        expect(Math.abs(exact - gradient), `${name} ${side} ${i}`).toBeLessThan(
          1e-3 * (1 + Math.abs(gradient)),
        )
      })
  const { answers } = golden
  answers.logprobs.forEach((value, i) => {
    const at = (x: number): number =>
      ktoLoss({ ...answers, logprobs: answers.logprobs.with(i, x) }, { reference: 0.4 }).value
    expect(ktoLoss(answers, { reference: 0.4 }).gradient[i]).toBeCloseTo(
      (at(value + 1e-5) - at(value - 1e-5)) / 2e-5,
      6,
    )
  })
})

test('no pairs give loss 0', () => {
  const none = { chosen: [], rejected: [], referenceChosen: [], referenceRejected: [] }
  for (const loss of [dpoLoss(none), ipoLoss(none), orpoLoss(none), simpoLoss(none), bradleyTerryLoss(none)])
    expect(loss).toEqual({
      value: 0,
      chosen: new Float32Array(0),
      rejected: new Float32Array(0),
      accuracy: 0,
    })
  const zeros = dpoLoss({ ...pairs, weights: [0, 0, 0, 0, 0, 0] })
  expect(zeros.value).toBe(0)
  expect(zeros.chosen.every((gradient) => gradient === 0)).toBe(true)
})

test('online pairs are the extremes or all, never equal or masked ones', () => {
  const rewards = [0.5, null, 1, 0, 1, 0]
  expect(onlinePairs(rewards)).toEqual([{ chosen: 2, rejected: 3 }])
  expect(onlinePairs(rewards, { pairing: 'all' }).length).toBe(2 * 3 + 2)
  expect(onlinePairs(rewards, { pairing: 'all', margin: 0.5 }).length).toBe(4)
  expect(onlinePairs([1, 1, null])).toEqual([])
  expect(onlinePairs([1])).toEqual([])
  expect(onlinePairs([])).toEqual([])
})

test('the best of n agrees with enumerating all choices', () => {
  const { scores: given, outcomes, of } = golden.bestOf
  for (const { n, score, outcome } of of) {
    expect(expectedBestOf(n, given)).toBeCloseTo(score, 10)
    expect(expectedBestOf(n, given, outcomes)).toBeCloseTo(outcome, 10)
  }
  // pass@2 of 2 right in 5: 1 - C(3, 2) / C(5, 2).
  expect(expectedBestOf(2, [1, 0, 0, 1, 0])).toBeCloseTo(1 - 3 / 10, 10)
  // Equal scores: ties are broken at random.
  expect(expectedBestOf(3, [1, 1, 1], [0, 0, 3])).toBeCloseTo(1, 10)
  expect(() => expectedBestOf(3, [1, 0])).toThrow(/fewer than n/)
  expect(bestOf([0, null, 2, 2])).toBe(2)
  expect(bestOf([null])).toBe(null)
  expect(bestOf([-Infinity])).toBe(0)
  expect(bestOfKl(1)).toBe(0)
  expect(bestOfKl(4)).toBeCloseTo(Math.log(4) - 0.75)
})
