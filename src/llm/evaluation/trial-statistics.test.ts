import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/random.ts'
import { average } from '../../statistics/statistics.ts'
import { type Attempt, compareSuccess, successPairs } from './episode-statistics.ts'
import {
  fisherExact,
  noiseFloor,
  passRates,
  powerOfComparison,
  type TaskOutcome,
} from './trial-statistics.ts'

/** Every choice of k of the trials, counted out. */
function counted(successes: number, trials: number, k: number): { some: number; all: number } {
  const results = Array.from({ length: trials }, (_, i) => i < successes)
  let [choices, some, all] = [0, 0, 0]
  for (let mask = 0; mask < 2 ** trials; mask += 1) {
    const chosen = results.filter((_, i) => (mask >> i) % 2 === 1)
    if (chosen.length !== k) continue
    choices += 1
    some += Number(chosen.some(Boolean))
    all += Number(chosen.every(Boolean))
  }
  return { some: some / choices, all: all / choices }
}

test('pass@k and pass^k are the shares of all choices of k trials', () => {
  const outcomes: TaskOutcome[] = [
    { task: 'a', successes: 0, trials: 5 },
    { task: 'b', successes: 2, trials: 6 },
    { task: 'c', successes: 5, trials: 5 },
  ]
  const { atLeastOne, all } = passRates(outcomes)
  expect(atLeastOne).toHaveLength(5)
  for (let k = 1; k <= 5; k += 1) {
    const each = outcomes.map(({ successes, trials }) => counted(successes, trials, k))
    expect(atLeastOne[k - 1]).toBeCloseTo(average(each.map(({ some }) => some)), 12)
    expect(all[k - 1]).toBeCloseTo(average(each.map((one) => one.all)), 12)
  }
  expect(passRates([])).toEqual({ atLeastOne: [], all: [] })
})

test('Fisher’s exact test gives the values of R', () => {
  // fisher.test(matrix(c(8, 2, 1, 5), 2))$p.value and others.
  expect(fisherExact({ hits: 8, of: 10 }, { hits: 1, of: 6 })).toBeCloseTo(0.03496503, 7)
  expect(fisherExact({ hits: 3, of: 4 }, { hits: 1, of: 4 })).toBeCloseTo(0.4857143, 6)
  expect(fisherExact({ hits: 0, of: 50 }, { hits: 0, of: 70 })).toBe(1)
})

/** Tasks of different difficulty, and trials of two models on them. `gain` moves the second model's chance of success. */
function simulate(seed: string, { tasks = 60, trials = 3, gain = 0 } = {}): { a: Attempt[]; b: Attempt[] } {
  const random = createRandom('trial-statistics', seed)
  const a: Attempt[] = []
  const b: Attempt[] = []
  for (let t = 0; t < tasks; t += 1) {
    const chance = 0.1 + 0.7 * random.next()
    for (let trial = 0; trial < trials; trial += 1) {
      const attempt = (p: number): Attempt => ({ task: `${t}`, status: 'ok', success: random.next() < p })
      a.push(attempt(chance))
      b.push(attempt(chance + gain))
    }
  }
  return { a, b }
}

const rounds = 2000
const shareOf = (hits: (round: number) => boolean): number =>
  average(Array.from({ length: rounds }, (_, round) => Number(hits(round))))

test('in 2,000 comparisons of equal models the interval holds 0 in 93 to 97%, and at most 2.5% are called a regression', () => {
  const intervals = Array.from({ length: rounds }, (_, round) => {
    const { a, b } = simulate(`equal ${round}`)
    return compareSuccess(b, a)
  })
  const share = (hit: (interval: { low: number; high: number }) => boolean): number =>
    average(intervals.map((one) => Number(one.low !== null && hit(one))))
  const holds = share(({ low, high }) => low <= 0 && high >= 0)
  expect(holds).toBeGreaterThan(0.93)
  expect(holds).toBeLessThan(0.97)
  // Three standard errors of 2,000 rounds above the stated rate.
  expect(share(({ high }) => high < 0)).toBeLessThan(0.025 + 3 * Math.sqrt((0.025 * 0.975) / rounds))
})

test('the interval holds a true difference in 93 to 97%', () => {
  const holds = shareOf((round) => {
    const { a, b } = simulate(`gain ${round}`, { gain: 0.12 })
    const { low, high } = compareSuccess(b, a)
    return low !== null && low <= 0.12 && high >= 0.12
  })
  expect(holds).toBeGreaterThan(0.93)
  expect(holds).toBeLessThan(0.97)
})

test('the noise floor is what 95% of pairs of evaluations stay within', () => {
  const outcomes = (attempts: readonly Attempt[]): TaskOutcome[] =>
    Array.from({ length: 60 }, (_, t) => {
      const own = attempts.filter(({ task }) => task === `${t}`)
      return { task: `${t}`, successes: own.filter(({ success }) => success).length, trials: own.length }
    })
  const rate = (attempts: readonly Attempt[]): number =>
    average(attempts.map(({ success }) => Number(success)))
  const within = average(
    Array.from({ length: 500 }, (_, round) => {
      const { a, b } = simulate(`noise ${round}`)
      return Number(Math.abs(rate(a) - rate(b)) <= (noiseFloor(outcomes(a)) ?? 0))
    }),
  )
  expect(within).toBeGreaterThan(0.92)
  expect(within).toBeLessThan(0.98)
  expect(noiseFloor([{ task: 'a', successes: 1, trials: 1 }])).toBeNull()
})

test('a difference as large as the smallest that can be shown is shown in four of five evaluations', () => {
  // One evaluation only estimates how much gains vary.
  const estimates = Array.from({ length: 100 }, (_, round) => {
    const { a, b } = simulate(`spread ${round}`)
    const gains = successPairs(b, a).map(({ gain }) => gain)
    return powerOfComparison(gains, compareSuccess(b, a)).smallest ?? 0
  })
  const found = shareOf((round) => {
    const pair = simulate(`power ${round}`, { gain: average(estimates) })
    return (compareSuccess(pair.b, pair.a).low ?? -1) > 0
  })
  expect(found).toBeGreaterThan(0.75)
  expect(found).toBeLessThan(0.85)
})

test('the tasks that are still needed follow from the difference seen', () => {
  const gains = Array.from({ length: 40 }, (_, i) =>
    i % 4 === 0 ? 1 : i % 4 === 1 ? -1 : i % 8 === 2 ? 1 : 0,
  )
  const attempts = (take: (gain: number) => boolean): Attempt[] =>
    gains.map((gain, i) => ({ task: `${i}`, status: 'ok', success: take(gain) }))
  const interval = compareSuccess(
    attempts((gain) => gain === 1),
    attempts((gain) => gain === -1),
  )
  const { tasksNeeded, smallest } = powerOfComparison(gains, interval)
  // s^2 (1.96 + 0.84)^2 / d^2 with s about 0.8 and d = 0.125 is about 320 tasks.
  expect(tasksNeeded).toBeGreaterThan(240)
  expect(tasksNeeded).toBeLessThan(330)
  expect(smallest).toBeGreaterThan(0.3)
  expect(powerOfComparison([1, 0], interval)).toEqual({ smallest: null, tasksNeeded: null })
})
