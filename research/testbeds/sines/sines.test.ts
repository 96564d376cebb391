import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { dot } from '../vectors.ts'
import { examples, processError, shape, sines, tasks } from './sines.ts'

const own = (data: Float32Array, task: number): number[] =>
  Array.from(data.subarray(task * examples, (task + 1) * examples))

/** The waves a sin x + b cos x through points, by least squares. */
function wave(x: number[], y: number[]): number[] {
  const [s, c] = [x.map(Math.sin), x.map(Math.cos)]
  const determinant = dot(s, s) * dot(c, c) - dot(s, c) ** 2
  return [
    (dot(s, y) * dot(c, c) - dot(c, y) * dot(s, c)) / determinant,
    (dot(c, y) * dot(s, s) - dot(s, y) * dot(s, c)) / determinant,
  ]
}

test('both halves of a task lie on one wave, of an amplitude and a phase within their ranges', () => {
  const { x, y, otherX, otherY } = sines(createRandom(1))
  expect([x, y, otherX, otherY].map((part) => part.shape)).toEqual(each(4).map(() => shape))
  for (const task of each(tasks)) {
    const [a, b] = wave(own(x.data, task), own(y.data, task))
    for (const [k, value] of own(otherX.data, task).entries())
      expect(a * Math.sin(value) + b * Math.cos(value)).toBeCloseTo(own(otherY.data, task)[k], 4)
    const [amplitude, phase] = [Math.hypot(a, b), Math.atan2(-b, a)]
    expect([amplitude >= 0.1 && amplitude < 5, phase >= -1e-3 && phase < Math.PI + 1e-3]).toEqual([
      true,
      true,
    ])
  }
  for (const value of x.data) expect(Math.abs(value)).toBeLessThanOrEqual(5)
})

test('a process with a tiny length predicts the mean of the examples, one with a fitting length far better', () => {
  const random = createRandom('unseen tasks', 3)
  const squares = each(4).flatMap(() => {
    const { y, otherY } = sines(random)
    return each(tasks).flatMap((task) => {
      const mean = average(own(y.data, task))
      return own(otherY.data, task).map((value) => (mean - value) ** 2)
    })
  })
  expect(processError(3, 4, 1e-6)).toBeCloseTo(average(squares), 4)
  expect(processError(3, 4, 2)).toBeLessThan(0.3 * average(squares))
  expect(processError(4, 4, 2)).not.toBe(processError(3, 4, 2))
})
