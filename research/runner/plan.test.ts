import { expect, test } from 'vitest'
import paper from './fixtures/two-arms.ts'
import type { Paper, PaperRuns } from './paper.ts'
import { makePlan, planHash, plannedComparisons } from './plan.ts'
import { outOfDate, resultText } from './result.ts'

/** Twelve pairs whose differences have mean 0 and this deviation. */
function pilot(deviation: number): PaperRuns {
  const scores = [1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1].map(
    (sign) => 100 + sign * deviation * Math.sqrt(11 / 12),
  )
  const runs = (list: number[]) => ({ scores: list, measures: {}, starts: [], unreached: 0, seconds: 12 })
  return { arms: { more: runs(scores), less: runs(scores.map(() => 100)) } }
}
const two: Paper = { ...paper, control: { positive: { better: 'more', than: 'less', atLeast: 100 } } }
const record = (runs: PaperRuns) => ({
  module: 'hash',
  pilot: { runs, seeds: { from: 101, to: 112 } },
  most: 1000,
  used: 0,
  command: 'agoge papers plan two-arms',
  date: new Date('2026-01-02T03:04:05Z'),
})

test('seeds follow from the upper bound of the deviation', () => {
  const [rival, control] = plannedComparisons(two, pilot(10))
  expect(rival.deviation).toBeCloseTo(10, 9)
  // sqrt(11 / 4.575), the lower twentieth of chi-square with 11 degrees of freedom.
  expect(rival.bound).toBeCloseTo(15.506, 1)
  // Two one-sided tests at 5% with 10% missed each: about (1.645 + 1.282)^2 (15.5 / 5)^2 seeds, and some more for Student's.
  expect(rival.seeds).toBeGreaterThan(81)
  expect(rival.seeds).toBeLessThan(87)
  expect(control.seeds).toBe(16)
  expect(plannedComparisons(two, pilot(0))[0].seeds).toBe(16)
})

test('more rivals need more seeds', () => {
  const runs = pilot(10)
  const three = { ...two, effect: { ...two.effect, than: ['less', 'less', 'less'] } }
  expect(plannedComparisons(three, runs)[0].seeds).toBeGreaterThan(plannedComparisons(two, runs)[0].seeds)
})

test('a plan takes seeds that no earlier one used, and says if they are too few', () => {
  const first = makePlan(two, record(pilot(0)))
  expect(first).toMatchObject({
    seeds: { from: 1001, to: 1016 },
    again: { from: 1017, to: 1032 },
    underpowered: null,
    pilot: { secondsPerSeed: 2 },
    date: '2026-01-02T03:04:05.000Z',
  })
  const second = makePlan(two, { ...record(pilot(10)), used: first.again.to, most: 20 })
  expect(second).toMatchObject({ seeds: { from: 1033, to: 1052 }, again: { from: 1053, to: 1072 } })
  expect(second.underpowered).toMatch(/^8\d seeds would be needed, 20 are allowed$/)
})

test('a result counts under its own plan only, however the file is laid out', () => {
  const plan = makePlan(two, record(pilot(0)))
  const read = JSON.parse(resultText(plan)) as typeof plan
  expect(planHash(read)).toBe(planHash(plan))
  const result = { plan: { hash: planHash(plan), date: plan.date }, date: '2026-01-03T00:00:00.000Z' }
  expect(outOfDate(result, read)).toBeNull()
  expect(outOfDate({ ...result, date: '2026-01-01T00:00:00.000Z' }, plan)).toContain('older than its plan')
  expect(outOfDate(result, { ...plan, most: 999 })).toContain('another plan')
})
