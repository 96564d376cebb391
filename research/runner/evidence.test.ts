import { holmAdjusted } from 'agoge/statistics'
import { expect, test } from 'vitest'
import { interval, oneSided, pairedEvidence, unpairedEvidence } from './evidence.ts'

test('without skewness the p-value of many values is that of the t-test', () => {
  // scipy.stats.ttest_1samp([-7..8], 0): t = 0.42008403, p = 0.68037961 (two-sided, 15 degrees of freedom).
  const values = Array.from({ length: 16 }, (_, i) => i - 7)
  const zeros = values.map(() => 0)
  const evidence = pairedEvidence(values, zeros)
  expect(evidence.mean / evidence.error).toBeCloseTo(0.42008403, 7)
  expect(2 * oneSided(evidence, 0).above).toBeCloseTo(0.68037961, 7)
  const { low, high } = interval(evidence, 0.95)
  expect([low, high].map((value) => Number(value.toFixed(4)))).toEqual([-2.0369, 3.0369])
})

test('few values have the exact p-value of all changes of sign', () => {
  const evidence = pairedEvidence([3, 2, 1, 1], [0, 0, 0, 0])
  expect(oneSided(evidence, 0).above).toBeGreaterThanOrEqual(1 / 16)
  // Differences without spread: Student's p-value would be 0.
  const constant = pairedEvidence([1.1, 1.2, 1.3, 1.4, 1.5], [0.1, 0.2, 0.3, 0.4, 0.5])
  expect(constant.error).toBe(0)
  expect(oneSided(constant, 0)).toEqual({ above: 1 / 32, below: 1 })
  // Ties say nothing, however many: 4 of 40 successes more are 1 in 16.
  const tied = pairedEvidence(
    Array.from({ length: 40 }, (_, i) => (i < 4 ? 1 : 0)),
    Array.from({ length: 40 }, () => 0),
  )
  expect(oneSided(tied, 0).above).toBe(1 / 16)
})

test('a long tail on the side of no effect makes the p-value larger', () => {
  const left = [1, 1.2, 0.9, 1.1, 0.8, 1, 1.3, 0.9, 1.1, 1, 1.2, 0.8, 1, -6, 0.9, 1.1]
  const zeros = left.map(() => 0)
  const evidence = pairedEvidence(left, zeros)
  expect(evidence.skewness).toBeLessThan(0)
  const symmetric = { ...evidence, skewness: 0 }
  expect(oneSided(evidence, 0).above).toBeGreaterThan(oneSided(symmetric, 0).above)
})

test('unpaired evidence is that of Welch', () => {
  // scipy.stats.ttest_ind([1..6], [2, 4, 6, 8, 10, 12], equal_var=False): t = -2.04939015, df = 7.3529.
  const { mean, error, df } = unpairedEvidence([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12])
  expect(mean / error).toBeCloseTo(-2.04939015, 7)
  expect(df).toBeCloseTo(7.3529, 4)
})

test("Holm's p-values", () => {
  expect(holmAdjusted([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06])
  expect(holmAdjusted([0.5, 0.9])).toEqual([1, 1])
  expect(holmAdjusted([])).toEqual([])
})
