import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { softmax } from '../vectors.ts'
import { actions, evaluated, garnet, optimised, states } from './mirror-learning.ts'

const environment = garnet('1')
const policyOf = (logits: readonly number[]): Float64Array =>
  Float64Array.from(each(states).flatMap((s) => softmax(logits.slice(s * actions, (s + 1) * actions))))
const random = createRandom('logits', 1)
const logits = each(states * actions).map(() => random.normal())

test('the best return is that of the best of all deterministic policies', () => {
  const totals = each(actions ** states).map((index) => {
    const policy = new Float64Array(states * actions)
    for (const s of each(states)) policy[s * actions + (Math.floor(index / actions ** s) % actions)] = 1
    return evaluated(environment, policy).total
  })
  // Sweeps that end early cost 0.2% of a value.
  expect(Math.max(...totals)).toBeGreaterThan(0.995 * environment.best)
  expect(Math.max(...totals)).toBeLessThan(1.005 * environment.best)
})

test('the return is that of the rewards where the policy is, and its gradient that of finite differences', () => {
  const policy = policyOf(logits)
  const { values, q, visits, total } = evaluated(environment, policy)
  const at = (pair: number): number => visits[Math.floor(pair / actions)] * policy[pair]
  expect(visits.reduce((a, b) => a + b)).toBeCloseTo(1, 9)
  expect(environment.pairs.reduce((sum, { reward }, pair) => sum + at(pair) * reward, 0)).toBeCloseTo(
    total,
    2,
  )
  for (const pair of each(logits.length)) {
    const [more, less] = [1e-4, -1e-4].map(
      (by) => evaluated(environment, policyOf(logits.with(pair, logits[pair] + by))).total,
    )
    // Values are of rewards times 1 - 0.9.
    const slope = (at(pair) * (q[pair] - values[Math.floor(pair / actions)])) / (1 - 0.9)
    expect((more - less) / 2e-4).toBeCloseTo(slope, 2)
  }
})

test('the score is 0 without a step, and a pull that is the same for all actions changes nothing', () => {
  const scored = (pull: number, rate: number) =>
    optimised(environment, createRandom('noise', 1), () => pull, rate)
  expect(scored(0, 0)).toEqual({ score: 0, pulled: 0 })
  const plain = scored(0, 3)
  expect(plain.score).toBeGreaterThan(50)
  expect(plain.score).toBeLessThan(100.5)
  expect(scored(2, 3).score).toBeCloseTo(plain.score, 6)
  expect(scored(2, 3).pulled).toBe(1)
})

test('the same seed gives the same environment, another one another', () => {
  expect(garnet('1').pairs).toEqual(environment.pairs)
  expect(garnet('2').best).not.toBe(environment.best)
})
