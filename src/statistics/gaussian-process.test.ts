import { expect, test } from 'vitest'
import { gaussianProcess } from './gaussian-process.ts'

test('the posterior of one point equals the formula', () => {
  const believe = gaussianProcess([[0, 0]], [3], { length: 2, deviation: 2, noise: 1 })
  const at = believe([2, 0])
  const near = 4 * Math.exp(-0.5)
  expect(at.mean).toBeCloseTo(3, 12)
  expect(at.deviation).toBeCloseTo(Math.sqrt(4 - near ** 2 / 5), 12)
})

test('the posterior passes through measurements and returns to the prior far away', () => {
  const points = [[0], [1], [2.5], [4]]
  const values = [1, -1, 0.5, 2]
  const believe = gaussianProcess(points, values, { length: 1, deviation: 3, noise: 1e-4 })
  points.forEach((point, k) => {
    expect(believe(point).mean).toBeCloseTo(values[k], 4)
    expect(believe(point).deviation).toBeLessThan(0.01)
  })
  expect(believe([100]).mean).toBeCloseTo(0.625, 9)
  expect(believe([100]).deviation).toBeCloseTo(3, 9)
  expect(believe([0.5]).deviation).toBeGreaterThan(0.01)
})

test('the posterior interpolates a smooth function', () => {
  const points = Array.from({ length: 12 }, (_, k) => [k / 2])
  const believe = gaussianProcess(
    points,
    points.map(([x]) => Math.sin(x)),
    { length: 1 },
  )
  expect(believe([2.2]).mean).toBeCloseTo(Math.sin(2.2), 2)
})

test('noise is averaged over repeated measurements', () => {
  const believe = gaussianProcess([[0], [0], [9]], [1, 3, 2], { length: 1, deviation: 10, noise: 1 })
  expect(believe([0]).mean).toBeCloseTo(2, 6)
})
