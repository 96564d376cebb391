import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import {
  actions,
  gamma,
  greedyPolicy,
  levelOf,
  longest,
  moved,
  percent,
  randomLevels,
  returnOf,
  rewardOf,
} from './levels.ts'

const levels = randomLevels(30, 'test')

test('the exact return is the mean discounted return of episodes', () => {
  const random = createRandom('episodes', 1)
  for (const level of levels.slice(0, 4)) {
    const q = Float64Array.from(each(level.cells * actions), () => random.normal())
    const policy = new Float64Array(q.length)
    greedyPolicy(q, policy)
    // Half greedy, half uniform.
    for (let k = 0; k < policy.length; k++) policy[k] = 0.5 * policy[k] + 0.5 / actions
    const returns = each(4000).map(() => {
      let [cell, total] = [level.start, 0]
      for (let step = 0; step < longest && level.terminated[cell] === 0; step++) {
        cell = moved(
          level,
          cell,
          random.weighted(policy.subarray(cell * actions, (cell + 1) * actions)),
          random,
        )
        total += gamma ** step * rewardOf(level, cell, random)
      }
      return total
    })
    const mean = average(returns)
    const error = Math.sqrt(average(returns.map((v) => (v - mean) ** 2)) / returns.length)
    expect(Math.abs(mean - returnOf(level, policy))).toBeLessThan(4 * error)
  }
})

test('no policy returns more than the best, which is better than the uniform one by 0.2', () => {
  const random = createRandom('policies', 1)
  for (const level of levels) {
    expect(level.best - level.uniform).toBeGreaterThanOrEqual(0.2)
    const policy = new Float64Array(level.cells * actions)
    for (const _ of each(20)) {
      greedyPolicy(
        Float64Array.from(policy, () => random.normal()),
        policy,
      )
      expect(returnOf(level, policy)).toBeLessThanOrEqual(level.best + 1e-9)
    }
    expect(returnOf(level, policy.fill(1 / actions))).toBeCloseTo(level.uniform, 12)
  }
})

test('without walls, slips and traps the best return is the discount of the steps to the goal', () => {
  const plain = { side: 4, walls: 0, traps: 0, lure: 0, slip: 0, noise: 0 }
  const level = levelOf(plain, createRandom('plain', 1))
  const goal = level.rewards.indexOf(1)
  const far =
    Math.abs((goal % 4) - (level.start % 4)) + Math.abs(Math.floor(goal / 4) - Math.floor(level.start / 4))
  expect(level.best).toBeCloseTo(gamma ** (far - 1), 12)
  expect(percent([level], [level.best])).toBeCloseTo(100, 9)
  expect(percent([level], [level.uniform])).toBe(0)
})

test('actions of equal value share, and the same seed gives the same levels', () => {
  const policy = new Float64Array(8)
  greedyPolicy(Float64Array.of(1, 2, 2, 0, 3, 3, 3, 3), policy)
  expect([...policy]).toEqual([0, 0.5, 0.5, 0, 0.25, 0.25, 0.25, 0.25])
  expect(randomLevels(3, 'test')).toEqual(levels.slice(0, 3))
})
