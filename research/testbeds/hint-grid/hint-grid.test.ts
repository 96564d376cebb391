import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { actions, cells, chances, exactReturn, gamma, horizon, kinds, maze, play } from './hint-grid.ts'

const random = createRandom('theta', 1)
/** Prefers moves to the right and down, the far side. */
const theta = Float64Array.from(
  { length: cells * actions },
  (_, k) => random.normal() + (k % 2 === 0 ? 1 : 0),
)
const policy = each(cells).map((cell) => chances(theta, cell))

test('the exact return is the mean of episodes', () => {
  const map = maze(1, 'distance')
  const returns = each(4000).map(() => {
    const { parts } = play(map, policy, random, false)
    return parts.reduce((sum, [primary], t) => sum + gamma ** t * primary, 0)
  })
  const deviation = Math.sqrt(average(returns.map((v) => (v - average(returns)) ** 2)))
  expect(Math.abs(average(returns) - exactReturn(map, theta))).toBeLessThan((4 * deviation) / Math.sqrt(4000))
  expect(exactReturn(map, theta)).toBeGreaterThan(0.02)
})

test('the shortest way has the return of its length', () => {
  const map = maze(2, 'distance')
  const [x, y] = [map.goal % 10, Math.floor(map.goal / 10)]
  // Right to the column of the goal, then down.
  const straight = Float64Array.from({ length: cells * actions }, (_, k) => {
    const right = Math.floor(k / actions) % 10 < x
    return k % actions === (right ? 0 : 2) ? 50 : 0
  })
  expect(x + y).toBeGreaterThanOrEqual(14)
  expect(exactReturn(map, straight)).toBeCloseTo(gamma ** (x + y - 1), 9)
})

test('a potential adds the same to every episode, whatever is done', () => {
  for (const kind of kinds) {
    const map = maze(3, kind)
    for (let episode = 0; episode < 20; episode++) {
      const { parts, cells: visited, actions: chosen, chance } = play(map, policy, random, true)
      const added = parts.reduce((sum, [, hinted], t) => sum + gamma ** t * hinted, 0)
      expect(added).toBeCloseTo(-map.hint[0], 9)
      expect(parts.length).toBeLessThanOrEqual(horizon)
      const logs = visited.map((cell, t) => Math.log(policy[cell][chosen[t]]))
      expect(chance).toBeCloseTo(
        logs.reduce((a, b) => a + b),
        9,
      )
    }
  }
})

test('a helpful hint is highest at the goal, a misleading one elsewhere', () => {
  const highest = (kind: (typeof kinds)[number]) => {
    const { goal, hint } = maze(4, kind)
    return hint.indexOf(Math.max(...hint)) === goal
  }
  expect(kinds.map(highest)).toEqual(kinds.map((kind) => kind !== 'misleading'))
  expect(new Set(each(20).map((seed) => maze(seed, 'distance').goal)).size).toBeGreaterThan(5)
})
