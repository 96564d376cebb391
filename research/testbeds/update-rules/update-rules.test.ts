import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { actions, percent, randomLevels } from '../levels/levels.ts'
import { actorCritic, firstRule, learn, learnedReturn, ruleSize } from './update-rules.ts'
import type { Rule } from './update-rules.ts'

const agent = () => ({
  logits: new Float64Array(3 * actions),
  policy: new Float64Array(3 * actions).fill(1 / actions),
  values: Float64Array.of(0.2, 0.5, 0),
})
/** Two steps, from cell 0 over cell 1 to cell 2, where the episode ends with a reward of 1. */
const episode = {
  visited: Uint8Array.of(0, 1, 2),
  taken: Uint8Array.of(3, 0),
  rewards: Float64Array.of(0, 1),
  length: 2,
}

test('the rule of actor-critic pushes by generalised advantages', () => {
  const learner = agent()
  learn(actorCritic(0.9, 0.5, 2, 0.1), learner, episode)
  const last = 1 - 0.5
  // The value of cell 1 has been updated when cell 0 is.
  const second = 0.5 + 0.1 * Math.tanh(last)
  const first = 0.9 * second - 0.2 + 0.9 * 0.5 * last
  expect(learner.values[1]).toBeCloseTo(second, 12)
  expect(learner.values[0]).toBeCloseTo(0.2 + 0.1 * Math.tanh(first), 12)
  expect(learner.logits[4]).toBeCloseTo(2 * Math.tanh(last) * 0.75, 12)
  expect(learner.logits[3]).toBeCloseTo(2 * Math.tanh(first) * 0.75, 12)
  expect(learner.logits[0]).toBeCloseTo(-2 * Math.tanh(first) * 0.25, 12)
  for (const from of [0, 4]) {
    expect(learner.policy.subarray(from, from + 4).reduce((a, b) => a + b)).toBeCloseTo(1, 12)
  }
  expect(learner.policy[4] / learner.policy[5]).toBeCloseTo(
    Math.exp(learner.logits[4] - learner.logits[5]),
    9,
  )
  expect([...learner.logits.subarray(8), learner.values[2]]).toEqual([0, 0, 0, 0, 0])
})

test('the first rule pushes by the sum of rewards and learns no values', () => {
  const learner = agent()
  learn(firstRule(), learner, episode)
  expect(learner.logits[3]).toBeCloseTo(Math.tanh(0.1) * 0.75, 12)
  expect([...learner.values]).toEqual([0.2, 0.5, 0])
})

test('every weight has an effect of its own', () => {
  const random = createRandom('rules', 1)
  const rule: Rule = firstRule().map(() => random.normal())
  expect(rule).toHaveLength(ruleSize)
  const seen = [rule, ...Array.from(rule, (weight, k) => rule.with(k, weight + 0.5))].map((changed) => {
    const learner = agent()
    learn(changed, learner, episode)
    return [...learner.logits, ...learner.values].join()
  })
  expect(new Set(seen).size).toBe(ruleSize + 1)
})

test('actor-critic learns more than the first rule, and a rule of large weights stays finite', () => {
  const levels = randomLevels(60, 'test')
  const random = createRandom('agents', 1)
  const taught = (rule: Rule, episodes = 30): number =>
    percent(
      levels,
      levels.map((level) => learnedReturn(level, rule, episodes, random)),
    )
  const first = taught(firstRule())
  expect(first).toBeGreaterThan(5)
  expect(taught(actorCritic(0.95, 0.8, 1, 0.1))).toBeGreaterThan(first + 20)
  expect(taught(firstRule(), 0)).toBeCloseTo(0, 9)
  const wild = levels.map((level) => learnedReturn(level, firstRule().fill(4), 30, random))
  expect(Number.isFinite(average(wild))).toBe(true)
})
