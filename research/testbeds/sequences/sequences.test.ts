import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import {
  cost,
  dot,
  dynamics,
  exactCost,
  gamma,
  horizon,
  iterate,
  longest,
  noise,
  regress,
  unroll,
} from './sequences.ts'

const random = createRandom('test', 1)
const quiet = (state: number[], force: number): number[] => dynamics.map((row) => dot(row, [...state, force]))
const after = (state: number[], force: number): number[] =>
  quiet(state, force).map((value) => value + noise * random.normal())

/** The best gain by the equation of Riccati, for discounted costs. */
function riccati(): number[] {
  const a = dynamics.map((row) => row.slice(0, 2))
  const b = dynamics.map((row) => row[2])
  let [p, gain] = [each(2).map(() => [0, 0]), [0, 0]]
  for (let sweep = 0; sweep < 500; sweep++) {
    const pa = [0, 1].map((i) => [0, 1].map((j) => dot(p[i], [a[0][j], a[1][j]])))
    const pb = p.map((row) => dot(row, b))
    const own = 0.05 + gamma * dot(b, pb)
    gain = [0, 1].map((j) => (-gamma * dot(b, [pa[0][j], pa[1][j]])) / own)
    p = [0, 1].map((i) =>
      [0, 1].map((j) => {
        const closed = dot([a[0][i], a[1][i]], [pa[0][j], pa[1][j]])
        return (i === j ? [1, 0.1][i] : 0) + gamma * closed - gain[i] * gain[j] * own
      }),
    )
  }
  return gain
}

test('least squares find the weights of a plane', () => {
  const rows = each(30).map(() => [1, random.normal(), random.normal()])
  const found = regress(
    rows,
    rows.map((row) => dot(row, [2, -1, 0.5])),
  )
  expect(found).toEqual([2, -1, 0.5].map((v) => expect.closeTo(v, 3)))
})

test('policy iteration on data comes to the gain of the known dynamics', () => {
  const steps = each(1500).map(() => {
    const [x, u] = [[random.normal(), random.normal()], [3 * random.normal()]]
    return { x, u, cost: cost(x, u[0]), next: after(x, u[0]) }
  })
  const [found] = iterate(steps, gamma)
  for (const [k, value] of riccati().entries()) expect(Math.abs(found[k] / value - 1)).toBeLessThan(0.05)
})

test('the exact cost is that of episodes, with a decision every step or every third', () => {
  for (const every of [1, 3]) {
    const gains = unroll([-2, -1.5], dynamics)
    const played = (start: number[], next: (state: number[], force: number) => number[]): number => {
      let [state, seen, total] = [start, start, 0]
      for (let t = 0; t < horizon; t++) {
        if (t % every === 0) seen = state
        const force = dot(gains[t % every], seen)
        total += cost(state, force)
        state = next(state, force)
      }
      return total
    }
    // Costs are quadratic, so those of the first state (of variance 1) and of the noise add up.
    const first = played([1, 0], quiet) + played([0, 1], quiet)
    const costs = each(2000).map(() => played([0, 0], after))
    const deviation = Math.sqrt(average(costs.map((v) => (v - average(costs)) ** 2)))
    const error = Math.abs(first + average(costs) - exactCost(gains, every))
    expect(error).toBeLessThan((4 * deviation) / Math.sqrt(2000))
  }
})

test('a sequence of actions is what the policy does along the model', () => {
  const gains = unroll([-2, -1.5], dynamics)
  let state = [0.7, -0.4]
  const start = state
  for (const k of each(longest)) {
    const force = dot([-2, -1.5], state)
    expect(dot(gains[k], start)).toBeCloseTo(force, 12)
    state = quiet(state, force)
  }
})
