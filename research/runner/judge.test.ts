import { expect, test } from 'vitest'
import { type Judged, judge } from './judge.ts'
import type { ArmRuns, PaperRuns } from './paper.ts'

const noise = [-2, -1, 0, 1, 2, -1.5, 1.5, 0.5, -0.5, 0.7, -0.7, 0.3]
const around = (centre: number, scale = 1, shift = 0): number[] =>
  noise.map((_, i) => centre + scale * noise[(i + shift) % noise.length])
const runsOf = (scores: number[], more: Partial<ArmRuns> = {}): ArmRuns => ({
  scores,
  measures: {},
  starts: [],
  unreached: 0,
  seconds: 1,
  ...more,
})
const all = (scores: Record<string, number[]>): PaperRuns => ({
  arms: Object.fromEntries(Object.entries(scores).map(([arm, list]) => [arm, runsOf(list)])),
})
const paper: Judged = {
  pairing: 'seed',
  effect: { better: 'method', than: ['baseline', 'random'], atLeast: 1 },
}
const verdict = (scores: Record<string, number[]>, of: Judged = paper): string =>
  judge(of, all(scores)).verdict

test('the verdict follows from the worst of the comparisons', () => {
  const random = around(0)
  expect(verdict({ method: around(10), baseline: around(5, 1, 3), random })).toBe('reproduced')
  expect(verdict({ method: around(10), baseline: around(9.5, 1, 3), random })).toBe('underpowered')
  expect(verdict({ method: around(5), baseline: around(10, 1, 3), random })).toBe('contradicted')
  expect(verdict({ method: around(10), baseline: around(10, 1.1), random })).toBe('equivalent')
})

test('what is significant but smaller than what counts is equivalent, in both directions', () => {
  const random = around(0)
  for (const gap of [0.2, -0.2]) {
    const { verdict: found, comparisons } = judge(
      paper,
      all({ method: around(10), baseline: around(10 - gap, 1.05), random }),
    )
    expect(found).toBe('equivalent')
    expect(comparisons[0].p).toBeLessThan(0.05)
  }
})

test('pairs cancel what a seed decides; without pairing it does not', () => {
  const shared = around(0, 20)
  const scores = {
    method: shared.map((part, i) => part + 1.2 + 0.1 * noise[(i + 3) % noise.length]),
    baseline: shared,
    random: shared.map((part) => part - 90),
  }
  expect(verdict(scores)).toBe('reproduced')
  expect(verdict(scores, { ...paper, pairing: 'none' })).toBe('underpowered')
})

test('lower can be better, and ratios are compared by logarithms', () => {
  const times: Judged = {
    pairing: 'seed',
    higherIsBetter: false,
    effect: { better: 'method', than: ['baseline'], atLeast: 1.5, scale: 'ratio' },
  }
  const scores = { method: around(10), baseline: around(10, 1, 3).map((score) => 4 * score) }
  const { verdict: found, comparisons, arms } = judge(times, all(scores))
  expect(found).toBe('reproduced')
  expect(comparisons[0].effect).toBeCloseTo(4, 1)
  expect(comparisons[0].low).toBeGreaterThan(1.5)
  expect(arms.method.score.mean).toBeCloseTo(
    Math.exp(scores.method.reduce((s, x) => s + Math.log(x) / 12, 0)),
    9,
  )
  expect(() => judge(times, all({ ...scores, method: around(0) }))).toThrow('not above 0')
})

test('an arm with more times that were cut off than its rival is not called better', () => {
  const of: Judged = { ...paper, effect: { ...paper.effect, than: ['baseline'] } }
  const runs = (unreached: number): PaperRuns => ({
    arms: { method: runsOf(around(10), { unreached }), baseline: runsOf(around(5, 1, 3), { unreached: 1 }) },
  })
  expect(judge(of, runs(1)).verdict).toBe('reproduced')
  expect(judge(of, runs(2)).verdict).toBe('underpowered')
})

test('a failed check or control makes the result invalid and is named', () => {
  const scores = { method: around(10), baseline: around(5, 1, 3), random: around(0) }
  const runs: PaperRuns = {
    arms: {
      ...all(scores).arms,
      method: runsOf(scores.method, { measures: { clipped: around(0.2, 0.01) } }),
    },
    again: runsOf(around(5, 1, 5)),
  }
  const of: Judged = {
    ...paper,
    checks: [{ about: 'tokens are clipped', arm: 'method', of: 'clipped', atLeast: 0.1 }],
    control: { positive: { better: 'baseline', than: 'random', atLeast: 1 } },
  }
  const valid = judge(of, runs)
  expect(valid.verdict).toBe('reproduced')
  expect(valid.checks.map(({ kind, passed }) => [kind, passed])).toEqual([
    ['manipulation', true],
    ['positive control', true],
    ['A/A control', true],
  ])
  const failures: [Judged, PaperRuns, string][] = [
    [{ ...of, checks: [{ ...of.checks![0], atLeast: 0.3 }] }, runs, 'manipulation'],
    [
      { ...of, control: { positive: { better: 'random', than: 'baseline', atLeast: 1 } } },
      runs,
      'positive control',
    ],
    [of, { ...runs, again: runsOf(around(9)) }, 'A/A control'],
  ]
  for (const [judged, given, kind] of failures) {
    const found = judge(judged, given)
    expect(found.verdict).toBe('invalid')
    expect(found.checks.filter(({ passed }) => !passed).map((check) => check.kind)).toEqual([kind])
  }
  const missing = { ...of, checks: [{ about: 'absent', arm: 'random', of: 'clipped', atLeast: 0 }] }
  expect(() => judge(missing, runs)).toThrow('a check reads "clipped" of arm "random"')
})

test('an arm that the claim does not name is compared, and decides nothing', () => {
  const scores = { method: around(10), baseline: around(5, 1, 3), random: around(0), other: around(15, 1, 4) }
  const { verdict: found, others } = judge(paper, all(scores))
  expect(found).toBe('reproduced')
  expect(others).toMatchObject([{ than: 'other', outcome: 'worse' }])
})
