import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { descended, dot, examplesOf, inputs, lossOf, relatedness, tasksOf } from './related-tasks.ts'

test('sources correlate with the target as they are said to', () => {
  const drawn = each(200).map((k) => tasksOf(`${k}`))
  for (const [s, rho] of relatedness.entries()) {
    const products = average(drawn.map(({ target, sources }) => dot(target, sources[s]) / inputs))
    const squares = average(drawn.map(({ sources }) => dot(sources[s], sources[s]) / inputs))
    // 4000 products, each of a variance of 1 + rho squared.
    expect(Math.abs(products - rho)).toBeLessThan(4 * Math.sqrt((1 + rho ** 2) / 4000))
    expect(Math.abs(squares - 1)).toBeLessThan(4 * Math.sqrt(2 / 4000))
  }
  expect(tasksOf('1')).toEqual(drawn[1])
  expect(drawn[1].few.length).toBe(12)
})

test('a step of descent follows the gradient of the loss', () => {
  const { target, few } = tasksOf('1')
  const from = target.map((v) => v / 2)
  const moved = descended(from, few, 1)
  for (const k of each(inputs)) {
    const [more, less] = [1e-4, -1e-4].map((by) => lossOf(from.with(k, from[k] + by), few))
    // A rate of 0.1 for half the square.
    expect(moved[k] - from[k]).toBeCloseTo((-0.05 * (more - less)) / 2e-4, 8)
  }
})

test('the true weights leave the noise alone, and descent on many examples comes to them', () => {
  const random = createRandom('examples', 1)
  const { target } = tasksOf('2')
  const many = examplesOf(target, 2000, random)
  // Squares of noise have a deviation of sqrt(2) times their mean, 0.09.
  expect(Math.abs(lossOf(target, many) - 0.09)).toBeLessThan((4 * Math.SQRT2 * 0.09) / Math.sqrt(2000))
  const found = descended(new Float64Array(inputs), many, 100)
  for (const [k, v] of found.entries())
    expect(Math.abs(v - target[k])).toBeLessThan((4 * 0.3) / Math.sqrt(2000))
})
