import { expect, test } from 'vitest'
import type { Episode } from '../llm/episode/types.ts'
import { createRandom } from '../engine/random/index.ts'
import type { Random } from '../engine/random/index.ts'
import {
  compareSuccess,
  probabilityOfImprovement,
  summariseEpisodes,
} from '../llm/evaluation/episode-statistics.ts'
import {
  interquartileMean,
  quantile,
  intervalText,
  meanInterval,
  pairedDifference,
  stratifiedInterquartileMean,
  studentQuantile,
  wilsonInterval,
  rankCorrelation,
} from './statistics.ts'

test("Wilson's interval agrees with scipy", () => {
  // scipy.stats.binomtest(8, 10).proportion_ci(method='wilson')
  expect(wilsonInterval(8, 10).low).toBeCloseTo(0.49016247, 7)
  expect(wilsonInterval(8, 10).high).toBeCloseTo(0.94331784, 7)
  expect(wilsonInterval(0, 10)).toMatchObject({ mean: 0, low: 0 })
  expect(wilsonInterval(0, 10).high).toBeCloseTo(0.27753279, 7)
  expect(wilsonInterval(10, 10).high).toBe(1)
  expect(wilsonInterval(0, 0)).toEqual({ mean: 0, low: 0, high: 1, n: 0 })
})

test("quantiles equal numpy's, and the interquartile mean equals scipy.stats.trim_mean", () => {
  expect(quantile([1, 2, 3, 10], 0.4)).toBeCloseTo(2.2)
  expect(quantile([7], 0.975)).toBe(7)
  expect(interquartileMean([9, 1, 2, 3, 4, 5, 100])).toBeCloseTo(23 / 5)
  expect(interquartileMean([])).toBe(0)
})

test("the interval of a mean is Student's for symmetric data and wider for skewed data", () => {
  // scipy.stats.t.interval(0.95, 4, 3, scipy.stats.sem([1, 2, 3, 4, 5]))
  expect(meanInterval([1, 2, 3, 4, 5])).toMatchObject({ mean: 3, n: 5 })
  expect(meanInterval([1, 2, 3, 4, 5]).low).toBeCloseTo(1.036757, 6)
  expect(meanInterval([1, 2, 3, 4, 5]).high).toBeCloseTo(4.963243, 6)
  const skewed = meanInterval([0, 0, 0, 1, 9])
  expect(skewed.low).toBeCloseTo(2 - studentQuantile(0.975, 4) * Math.sqrt(15.5 / 5), 6)
  expect(skewed.high).toBeGreaterThan(2 + studentQuantile(0.975, 4) * Math.sqrt(15.5 / 5))
  const mirrored = meanInterval([0, 0, 0, -1, -9])
  expect(mirrored.low).toBeCloseTo(-(skewed.high ?? 0), 9)
  expect(meanInterval([5, 5, 5, 5, 5])).toEqual({ mean: 5, low: 5, high: 5, n: 5 })
  const narrow = meanInterval([1, 2, 3, 4, 5], { level: 0.8 })
  expect(narrow.low).toBeGreaterThan(1.5)
})

test('fewer than five values have no interval but a reason', () => {
  const none = { low: null, high: null, n: 4, noInterval: 'no interval: n = 4, fewer than 5' }
  expect(meanInterval([1, 2, 3, 4])).toEqual({ mean: 2.5, ...none })
  expect(pairedDifference([1, 2, 3, 4], [0, 1, 2, 3])).toEqual({ mean: 1, ...none })
  expect(stratifiedInterquartileMean([[1, 2, 3, 4]])).toEqual({ mean: 2.5, ...none })
  expect(
    stratifiedInterquartileMean([
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4],
    ]),
  ).toMatchObject({ low: null, n: 4 })
  expect(probabilityOfImprovement([5, 6, 7, 8], [1, 2, 3, 4, 5])).toEqual({ mean: 0.975, ...none })
  const tasks = ['1', '2', '3', '4'].map((task) => episode(task, 'f', true))
  expect(compareSuccess(tasks, tasks)).toEqual({ mean: 0, ...none })
  expect(intervalText(meanInterval([1, 2]), String)).toBe('no interval: n = 2, fewer than 5')
  expect(intervalText({ mean: 1, low: 0, high: 2, n: 9 }, String)).toBe('0 to 2')
})

test('pairing removes the difficulty of tasks: a constant gain has an interval of width 0', () => {
  const hard = [0, 0, 1, 1, 0.5]
  const gain = pairedDifference(
    hard.map((value) => value + 0.25),
    hard,
  )
  expect(gain.low).toBeCloseTo(0.25)
  expect(gain.high).toBeCloseTo(0.25)
  expect(() => pairedDifference([1], [1, 2])).toThrow(/same tasks/)
})

test('the stratified bootstrap resamples runs within tasks only', () => {
  const scores = [
    [1, 1, 1, 1, 1],
    [5, 5, 5, 5, 5],
  ]
  const { mean, n } = stratifiedInterquartileMean(scores)
  expect(stratifiedInterquartileMean(scores)).toEqual({ mean, low: mean, high: mean, n })
  expect(n).toBe(10)
})

function episode(
  task: string,
  kind: string,
  success: boolean | null,
  fields: Partial<Episode> = {},
): Episode {
  return {
    schema: 1,
    id: task,
    group: task,
    environment: 'test',
    task,
    kind,
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [],
    samples: [],
    rewards: [],
    success,
    usage: { promptTokens: 10, sampledTokens: 20, calls: 2, invalidCalls: 1 },
    timing: { seconds: 1, toolSeconds: 0 },
    ...fields,
  }
}

test('a summary counts masked episodes and excludes them from all other values', () => {
  const broken = { calls: 99, invalidCalls: 99, sampledTokens: 99, promptTokens: 99 }
  const summary = summariseEpisodes([
    episode('a', 'read', true),
    episode('b', 'read', false),
    episode('c', 'write', false, { status: 'failed', ending: 'turn-limit' }),
    episode('d', 'write', true, { status: 'masked', ending: 'infrastructure', usage: broken }),
    episode('e', 'gone', null, { usage: broken }),
  ])
  expect(summary).toMatchObject({ masked: 2, calls: 2, invalidCalls: 0.5, tokens: 20 })
  expect(summary.kinds).toEqual({ read: 0.5, write: 0 })
  expect(summary.success.n).toBe(3)
  expect(summary.success.mean).toBeCloseTo(1 / 3)
})

test('a comparison pairs by task and excludes episodes that are masked on either side', () => {
  const a = [
    episode('1', 'f', true),
    episode('2', 'f', true),
    episode('3', 'f', true),
    episode('4', 'f', false),
  ]
  const b = [
    episode('4', 'f', false),
    episode('2', 'f', false),
    episode('3', 'f', null),
    episode('1', 'f', true),
  ]
  const gain = compareSuccess(a, b)
  expect(gain.n).toBe(3)
  expect(gain.mean).toBeCloseTo(1 / 3)
})

test('the interval of two policies that agree on a few tasks has a width above 0', () => {
  const tasks = Array.from({ length: 10 }, (_, task) => episode(String(task), 'f', true))
  const same = compareSuccess(tasks, tasks)
  expect(same).toMatchObject({ mean: 0, n: 10 })
  expect(same.low).toBeLessThan(-0.2)
  expect(same.low).toBeGreaterThan(-0.4)
  const none = tasks.map(({ task }) => episode(task, 'f', false))
  expect(compareSuccess(tasks, none)).toMatchObject({ mean: 1, high: 1 })
})

/** Twenty tasks of random difficulty, with eight attempts of one policy. */
function attempts(random: Random, hardness: readonly number[]): Episode[] {
  return hardness.flatMap((chance, task) =>
    Array.from({ length: 8 }, () => episode(String(task), 'f', random.next() < chance)),
  )
}

test('intervals over several attempts at a task cover the true difference of identical policies', () => {
  const random = createRandom(15)
  let [differences, shares] = [0, 0]
  for (let simulation = 0; simulation < 300; simulation++) {
    const hardness = Array.from({ length: 20 }, () => random.next())
    const [a, b] = [attempts(random, hardness), attempts(random, hardness)]
    const gain = compareSuccess(a, b)
    expect(gain.n).toBe(20)
    if (Number(gain.low) <= 0 && Number(gain.high) >= 0) differences++
    const { success } = summariseEpisodes(a)
    expect(success.n).toBe(160)
    if (success.low <= 0.5 && success.high >= 0.5) shares++
  }
  // The target is 95%. Comparing one of the eight attempts, or counting all as independent, gives 65% and 70%.
  expect(differences / 300).toBeGreaterThan(0.9)
  expect(shares / 300).toBeGreaterThan(0.9)
})

test("with one attempt per task the interval is Wilson's; with more it is never narrower", () => {
  const tasks = Array.from({ length: 10 }, (_, task) => task)
  const once = tasks.map((task) => episode(String(task), 'f', task < 8))
  expect(summariseEpisodes(once).success).toEqual(wilsonInterval(8, 10))
  const always = tasks.flatMap((task) => Array.from({ length: 50 }, () => episode(String(task), 'f', true)))
  expect(summariseEpisodes(always).success).toMatchObject({ mean: 1, high: 1, n: 500 })
  expect(summariseEpisodes(always).success.low).toBeLessThan(wilsonInterval(10, 10).low)
  const one = Array.from({ length: 50 }, (_, at) => episode('same', 'f', at < 25)) // one task, seen 50 times
  expect(summariseEpisodes(one).success.low).toBeLessThan(0.1)
})

test("quantiles of Student's t agree with scipy", () => {
  // scipy.stats.t.ppf
  expect(studentQuantile(0.975, 1)).toBeCloseTo(12.706204736, 7)
  expect(studentQuantile(0.975, 4)).toBeCloseTo(2.776445105, 8)
  expect(studentQuantile(0.995, 10)).toBeCloseTo(3.169272673, 8)
  expect(studentQuantile(0.025, 29)).toBeCloseTo(-2.045229642, 8)
  expect(studentQuantile(0.975, 1e6)).toBeCloseTo(1.959966, 5)
  expect(studentQuantile(0.5, 3)).toBeCloseTo(0, 12)
})

test('rankCorrelation equals scipy.stats.spearmanr', () => {
  expect(rankCorrelation([1, 2, 3, 4, 5], [5, 6, 7, 8, 7])).toBeCloseTo(0.8207826816681233, 12)
  expect(rankCorrelation([1, 2, 3], [3, 2, 1])).toBeCloseTo(-1, 12)
  expect(rankCorrelation([1, 2, 3], [1, 10, Infinity])).toBeCloseTo(1, 12)
})

test('constant values have rank correlation 0', () => {
  expect(rankCorrelation([1, 1, 1], [1, 2, 3])).toBe(0)
})
