import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { exactReturn, grid, playEpisode, posterior, size } from './policy-grid.ts'

const random = createRandom('test', 1)

test('the large reward is in the corner across, the small one three steps from the start', () => {
  const corners = each(12).map((seed) => {
    const { rewards, next, start, cells } = grid(seed)
    const steps = (cell: number): number =>
      Math.abs(cells[cell][0] - cells[start][0]) + Math.abs(cells[cell][1] - cells[start][1])
    expect(steps(rewards.indexOf(1))).toBe(12)
    expect(steps(rewards.indexOf(0.3))).toBe(3)
    expect(rewards.filter((reward) => reward > 0).length).toBe(2)
    for (const [s, row] of next.entries())
      for (const to of row)
        expect(Math.hypot(cells[to][0] - cells[s][0], cells[to][1] - cells[s][1])).toBeLessThanOrEqual(1)
    return start
  })
  expect(new Set(corners)).toEqual(new Set([0, 6, 42, 48]))
})

test('the exact return is the mean of episodes', () => {
  for (const seed of [1, 2]) {
    const map = grid(seed)
    // Away from the start with logits of 3, and with some noise.
    const away = map.cells[map.start].map((v, axis) => 2 * axis + (v === 0 ? 0 : 1))
    const theta = each(size).map((k) => (away.includes((k - 2) / 3) ? 0.8 : 0.1 * random.normal()))
    const returns = each(1500).map(() => playEpisode(map, theta, random))
    const deviation = Math.sqrt(average(returns.map((v) => (v - average(returns)) ** 2)))
    const error = Math.abs(average(returns) - exactReturn(map, theta))
    expect(error).toBeLessThan((4 * deviation) / Math.sqrt(returns.length))
    expect(average(returns)).toBeGreaterThan(1.5)
  }
})

test('draws of weights have the mean and the covariance of the posterior', () => {
  const [rows, returns] = [
    [
      [1, 1],
      [2, 2.5],
      [1, 0.5],
    ],
    [1, 0, 2],
  ]
  // With a prior of variance 1 and noise of variance 1: rows' rows + 1, and its product with the mean is rows' returns.
  const precision = [0, 1].map((i) =>
    [0, 1].map((j) => rows.reduce((sum, row) => sum + row[i] * row[j], Number(i === j))),
  )
  const draws = each(8000).map(() => posterior(rows, returns, random, 2))
  const mean = [0, 1].map((i) => average(draws.map((draw) => draw[i])))
  for (const i of [0, 1]) {
    const wanted = rows.reduce((sum, row, r) => sum + row[i] * returns[r], 0)
    const at = (weights: number[]): number => precision[i][0] * weights[0] + precision[i][1] * weights[1]
    expect(at(posterior(rows, returns, random, 0))).toBeCloseTo(wanted, 9)
    for (const j of [0, 1]) {
      const covariance = average(
        draws.map((draw) => at(draw.map((v, k) => v - mean[k])) * (draw[j] - mean[j])),
      )
      expect(Math.abs(covariance / 4 - Number(i === j))).toBeLessThan(0.12)
    }
  }
})
