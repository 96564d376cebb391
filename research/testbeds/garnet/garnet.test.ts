import { expect, test } from 'vitest'
import { evaluatePolicy, outcomesOf, startValue, valueIteration } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { actions, chances, garnet, greedy, replay, states } from './garnet.ts'

const gamma = 0.9
const pairs = each(states).flatMap((s) => each(actions).map((a) => [s, a]))

test('every action leads to three states in the order of the chances, and the state alone is rewarded', () => {
  const model = garnet(1)
  const rewards = new Map<number, number>()
  for (const [s, a] of pairs) {
    const outcomes = outcomesOf(model, s, a)
    expect(outcomes.map(({ probability }) => probability)).toEqual(chances)
    expect(new Set(outcomes.map(({ state }) => state)).size).toBe(3)
    for (const { state, reward } of outcomes) {
      expect(reward).toBe(rewards.get(state) ?? reward)
      rewards.set(state, reward)
    }
  }
  expect([...rewards.values()].toSorted((a, b) => b - a).slice(0, 7)).toEqual([1, 0.2, 0.2, 0.2, 0.2, 0.2, 0])
  expect(garnet(1)).toEqual(model)
  expect(garnet(2).next).not.toEqual(model.next)
})

test('an update moves one value towards its target', () => {
  const q = new Float64Array(states * actions)
  q[5 * actions + 2] = 2
  expect([greedy(q, 5), greedy(q, 6)]).toEqual([2, 0])
  replay(q, [3, 1, 0.5, 5], { stepSize: 0.1, discount: 0.9, updates: 1 }, createRandom(1))
  expect(q[3 * actions + 1]).toBeCloseTo(0.1 * (0.5 + 0.9 * 2), 12)
  expect(q.filter((v) => v !== 0).length).toBe(2)
})

test('replay of all steps in their proportion finds nearly the best policy', () => {
  const model = garnet(1)
  const buffer = pairs.flatMap(([s, a]) =>
    outcomesOf(model, s, a).flatMap(({ probability, state, reward }) =>
      each(Math.round(10 * probability)).flatMap(() => [s, a, reward, state]),
    ),
  )
  const q = new Float64Array(states * actions)
  replay(q, buffer, { stepSize: 0.05, discount: gamma, updates: 200_000 }, createRandom(2))
  const best = startValue(model, valueIteration(model, { gamma }).values)
  const policy = Int32Array.from({ length: states }, (_, s) => greedy(q, s))
  const found = startValue(model, evaluatePolicy(model, policy, { gamma }))
  expect(found / best).toBeGreaterThan(0.97)
  expect(Math.abs(q[greedy(q, 0)] / best - 1)).toBeLessThan(0.1)
})
