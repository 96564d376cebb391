import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { softmax } from '../vectors.ts'
import { clone, dot } from './choices.ts'
import type { Choice } from './choices.ts'

/** Choices among four options of two features. */
function drawn(count: number, choose: (rows: number[][]) => number): Choice[] {
  const random = createRandom('choices', 1)
  return each(count).map(() => {
    const rows = each(4).map(() => [random.normal(), random.normal()])
    return { rows, chosen: choose(rows) }
  })
}
const truth = [1, -2]
const logits = (rows: number[][], weights: number[]): number[] => rows.map((row) => dot(weights, row))
const likelihood = (choices: Choice[], weights: number[]): number =>
  choices.reduce((sum, { rows, chosen }) => sum + Math.log(softmax(logits(rows, weights))[chosen]), 0)

test('the fit is the maximum of the likelihood, near the weights that chose', () => {
  const random = createRandom('noise', 1)
  const choices = drawn(2000, (rows) => random.weighted(softmax(logits(rows, truth))))
  const { weights } = clone(choices, 10)
  const at = likelihood(choices, weights)
  for (const k of [0, 1]) {
    const curvature = [-0.01, 0.01].map((by) => likelihood(choices, weights.with(k, weights[k] + by)) - at)
    // The same loss on both sides.
    expect(Math.max(...curvature)).toBeLessThan(0)
    expect(curvature[0] / curvature[1]).toBeCloseTo(1, 1)
    // A parabola of the likelihood gives the standard error.
    const error = 0.01 / Math.sqrt(-2 * curvature[0])
    expect(Math.abs(weights[k] - truth[k])).toBeLessThan(4 * error)
  }
})

test('agreement is that of the best option: all of it with the best chosen, a quarter with any', () => {
  const best = drawn(400, (rows) => {
    const values = logits(rows, truth)
    return values.indexOf(Math.max(...values))
  })
  expect(clone(best, 10).agreement).toBeGreaterThan(0.98)
  const random = createRandom('any', 1)
  const any = clone(
    drawn(400, () => random.int(4)),
    10,
  )
  expect(Math.abs(any.agreement - 0.25)).toBeLessThan(0.1)
})
