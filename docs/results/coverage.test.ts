import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { anytimeCoverage } from '../../scripts/interval-coverage/anytime.ts'
import { clusteredCoverage } from '../../scripts/interval-coverage/clustered.ts'
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

test.each([
  [10, 5, 0.5, 0],
  [20, 10, 0.05, 0.7],
  [50, 3, 0.2, 1],
])(
  'success over %i tasks with %i trials each covers as stored: rate %d, correlation %d',
  (tasks, trials, success, correlation) => {
    const setting = { tasks, trials, success, correlation }
    const stored = data.clustered.find((cell) =>
      Object.entries(setting).every(([name, value]) => cell[name as 'tasks'] === value),
    )
    const again = clusteredCoverage(setting, simulations)
    expect(Math.abs(again - (stored?.coverage ?? NaN))).toBeLessThan(tolerance)
  },
)

test('with ten tasks or more of the rarer outcome, success over tasks is covered in 93 to 97%; with fewer in at least 90%', () => {
  for (const { tasks, success, coverage } of data.clustered) {
    expect(coverage).toBeGreaterThan(0.9)
    if (tasks * Math.min(success, 1 - success) < 9.999) continue
    expect(coverage).toBeGreaterThanOrEqual(0.93)
    // One of 143 cells of 1000 simulations lies above, by a point.
    expect(coverage).toBeLessThan(0.98)
  }
})

test('an anytime interval holds at all times, and false regressions keep to the stated rate', () => {
  const errors = 3 * Math.sqrt((0.025 * 0.975) / (2 * data.simulations))
  for (const cell of data.anytime) {
    expect(cell.path).toBeGreaterThanOrEqual(0.95)
    expect(Math.max(cell.fixedBelow, cell.anytimeBelow)).toBeLessThan(0.025 + errors)
  }
  const again = anytimeCoverage('the same, at odds in 40% of the tasks', 50, simulations)
  const stored = data.anytime.find(({ name, n }) => name === again.name && n === again.n)
  for (const kind of ['path', 'fixed', 'fixedBelow'] as const)
    expect(Math.abs(again[kind] - (stored?.[kind] ?? NaN))).toBeLessThan(tolerance)
})
