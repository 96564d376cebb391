import { expect, test } from 'vitest'
import { createRandom } from '../engine/random/index.ts'
import { hierarchicalInterval, holmAdjusted } from './hierarchical.ts'
import type { HierarchicalValue } from './hierarchical.ts'
import { meanInterval } from './statistics.ts'

/**
 * Ten seeds, thirteen templates that all seeds share, four tasks for each pair. Each seed, template and task has an effect of its own.
 * The true mean is 0.
 */
function drawn(
  simulation: number,
  spread: { seed: number; template: number; task: number },
): HierarchicalValue[] {
  const random = createRandom(simulation, 'hierarchical-coverage')
  const effects = (count: number, deviation: number): number[] =>
    Array.from({ length: count }, () => deviation * random.normal())
  const [seeds, templates] = [effects(10, spread.seed), effects(13, spread.template)]
  return seeds.flatMap((ofSeed, s) =>
    templates.flatMap((ofTemplate, t) =>
      effects(4, spread.task).map((ofTask, k) => ({
        value: ofSeed + ofTemplate + ofTask,
        units: [`seed ${s}`, `template ${t}`, `task ${s}/${t}/${k}`],
      })),
    ),
  )
}

function coverage(
  spread: { seed: number; template: number; task: number },
  interval: (values: HierarchicalValue[], at: number) => { low: number | null; high: number | null },
): number {
  const simulations = 300
  let covered = 0
  for (let at = 0; at < simulations; at++) {
    const { low, high } = interval(drawn(at, spread), at)
    if (low !== null && high !== null && low <= 0 && high >= 0) covered++
  }
  return covered / simulations
}

const hierarchical = (values: HierarchicalValue[], at: number) =>
  hierarchicalInterval(values, { resamples: 200, seed: at })

// 300 simulations of a true 95% are below 0.92 in one case of a hundred.
test.each([
  { seed: 1, template: 0, task: 1 },
  { seed: 0.5, template: 1, task: 1 },
  { seed: 1, template: 1, task: 0.3 },
])('intervals hold the true mean at least as often as they say: deviations %o', (spread) => {
  expect(coverage(spread, hierarchical)).toBeGreaterThan(0.92)
})

test('where seeds differ, an interval over all values, as if they were independent, is far too narrow', () => {
  const flat = (values: HierarchicalValue[]) => meanInterval(values.map(({ value }) => value))
  expect(coverage({ seed: 1, template: 1, task: 1 }, flat)).toBeLessThan(0.4)
  expect(coverage({ seed: 1, template: 1, task: 1 }, hierarchical)).toBeGreaterThan(0.92)
})

test('with one value for each unit of the highest level, it is close to Student’s interval', () => {
  const random = createRandom(4, 'one level')
  const values = Array.from({ length: 40 }, () => random.normal() + 0.3)
  const student = meanInterval(values)
  const found = hierarchicalInterval(values.map((value, at) => ({ value, units: [`${at}`] })))
  expect(found.mean).toBeCloseTo(student.mean, 12)
  // The bootstrap's deviation of the mean is the sample's, but for chance.
  expect(found.high! - found.low!).toBeCloseTo(student.high! - student.low!, 1)
})

test('units of one name below several are drawn together: a template that all seeds share shows in the interval', () => {
  const values = (share: boolean): HierarchicalValue[] =>
    Array.from({ length: 10 }, (_, s) =>
      Array.from({ length: 6 }, (_, t) => ({
        value: t,
        units: [`${s}`, share ? `${t}` : `${s}/${t}`],
      })),
    ).flat()
  const [shared, own] = [hierarchicalInterval(values(true)), hierarchicalInterval(values(false))]
  expect(shared.standardError).toBeGreaterThan(2 * own.standardError)
})

test('the p-value agrees with the interval', () => {
  const values = (mean: number): HierarchicalValue[] =>
    [-2, -1, 0, 1, 2, -1, 1, 0].map((value, at) => ({ value: value + mean, units: [`${at}`] }))
  for (const mean of [0, 0.5, 0.9, 1.2, 2]) {
    const { low, pValue } = hierarchicalInterval(values(mean))
    expect(pValue < 0.05).toBe(low! > 0)
  }
  expect(hierarchicalInterval(values(0)).pValue).toBeCloseTo(1, 6)
})

test('fewer than five units at the highest level have no interval', () => {
  const values = [1, 2, 3, 4, 1, 2, 3, 4].map((value, at) => ({ value, units: [`${at % 4}`, `${at}`] }))
  expect(hierarchicalInterval(values)).toMatchObject({ low: null, high: null, pValue: 1 })
})

test('values with different numbers of levels are refused', () => {
  const values = [
    { value: 1, units: ['a'] },
    { value: 2, units: ['b', 'c'] },
  ]
  expect(() => hierarchicalInterval(values)).toThrow(expect.objectContaining({ code: 'unpaired' }))
})

test('Holm’s adjustment', () => {
  // As R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
  expect(holmAdjusted([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02])
  expect(holmAdjusted([])).toEqual([])
  expect(holmAdjusted([0.6, 0.9])).toEqual([1, 1])
})
