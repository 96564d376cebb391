import { expect, test } from 'vitest'
import { probabilityOfImprovement } from 'agoge/llm'
import { judge } from './paper.ts'

const claim = { expect: { better: 'method', than: ['baseline', 'random'] } } as const
const around = (centre: number) => [-2, -1, 0, 1, 2, -1.5, 1.5, 0.5].map((d) => centre + d)

test('probability of improvement counts ties as half, as rliable does', () => {
  expect(probabilityOfImprovement([1, 2, 1, 2], [1, 2, 3]).mean).toBeCloseTo(1 / 3)
  // Wilson's interval of 8 in 8 with Student's quantile: 8 / (8 + 2.3646 ** 2).
  const apart = probabilityOfImprovement(around(10), around(0))
  expect(apart).toMatchObject({ mean: 1, high: 1, n: 16 })
  expect(apart.low).toBeCloseTo(0.5886, 4)
})

test('a claim is reproduced only if every comparison is clear', () => {
  expect(judge(claim, { method: around(10), baseline: around(5), random: around(0) }).verdict).toBe(
    'reproduced',
  )
  expect(judge(claim, { method: around(10), baseline: around(9.8), random: around(0) }).verdict).toBe(
    'inconclusive',
  )
  expect(judge(claim, { method: around(5), baseline: around(10), random: around(0) }).verdict).toBe(
    'not reproduced',
  )
})

test('a margin must be beaten, and lower can be better', () => {
  const scores = { method: around(10), baseline: around(6), random: around(0) }
  expect(judge({ expect: { ...claim.expect, margin: 9 } }, scores).verdict).toBe('not reproduced')
  expect(judge({ ...claim, higherIsBetter: false }, scores).verdict).toBe('not reproduced')
})

test('too few runs for an interval are inconclusive', () => {
  const few = { method: [10, 11, 12], baseline: [1, 2, 3], random: [1, 2, 3] }
  expect(judge(claim, few)).toMatchObject({ verdict: 'inconclusive', arms: { method: { low: null } } })
})
