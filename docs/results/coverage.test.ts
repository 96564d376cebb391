import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  improvementCoverage,
  meanCoverage,
  successCoverage,
} from '../../scripts/interval-coverage/measure.ts'
import { coveragePage } from '../../scripts/interval-coverage/page.ts'
import type { CoverageData } from '../../scripts/interval-coverage/page.ts'

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')
const data = JSON.parse(read('coverage.json')) as CoverageData

/** Four standard errors of a share near 95% in so many simulations, and of the stored one. */
const simulations = 200
const tolerance = 0.07

test('the page is that of the stored coverage', () => {
  expect(read('coverage.md')).toBe(coveragePage(data))
})

test.each([
  ['normal', 5],
  ['exponential', 5],
  ['lognormal 1', 10],
  ['capped', 20],
] as const)('the interval of the mean covers as stored: %s, %i values', (name, n) => {
  const again = meanCoverage(name, n, simulations)
  const stored = data.mean.find((cell) => cell.name === name && cell.n === n)
  expect(again['Student and Hall']).toBeGreaterThan(again.percentile)
  for (const kind of ['percentile', 'bootstrap-t', 'Student', 'Student and Hall'] as const)
    expect(Math.abs(again[kind] - (stored?.[kind] ?? NaN))).toBeLessThan(tolerance)
})

test('the probability of improvement, and success over tasks, cover as stored', () => {
  const apart = data.improvement.find(({ name, n }) => name === 'normal, far ahead' && n === 8)
  const improvement = improvementCoverage('normal, far ahead', 8, simulations)
  expect(Math.abs(improvement.Wilson - (apart?.Wilson ?? NaN))).toBeLessThan(tolerance)
  const same = data.success.find(
    ({ name, tasks, attempts }) => name === 'the same policy twice' && tasks === 20 && attempts === 8,
  )
  const success = successCoverage('the same policy twice', 20, 8, simulations)
  for (const kind of ['gain', 'success'] as const)
    expect(Math.abs(success[kind] - (same?.[kind] ?? NaN))).toBeLessThan(tolerance)
})

test('what is used holds: where the data are not rare outcomes or very skewed, within three points of 95%', () => {
  const usual = data.mean.filter(({ name }) => !/rare|bernoulli|lognormal 1|exponential/.test(name))
  for (const cell of usual) expect(cell['Student and Hall']).toBeGreaterThan(0.92)
  for (const cell of data.mean) expect(cell['Student and Hall']).toBeGreaterThanOrEqual(cell.percentile)
  for (const cell of data.improvement) expect(cell.Wilson).toBeGreaterThan(0.92)
  for (const cell of data.success) expect(Math.min(cell.gain, cell.success)).toBeGreaterThan(0.9)
})
