import { expect, test } from 'vitest'
import { rankCorrelation } from './statistics.ts'

test('rankCorrelation equals scipy.stats.spearmanr', () => {
  expect(rankCorrelation([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])).toBeCloseTo(0.8207826816681233, 12)
  expect(rankCorrelation([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1, 12)
  expect(rankCorrelation([1, 2, 3], [1, 10, Infinity])).toBeCloseTo(1, 12)
})

test('constant values have rank correlation 0', () => {
  expect(rankCorrelation([1, 1, 1], [1, 2, 3])).toBe(0)
})
