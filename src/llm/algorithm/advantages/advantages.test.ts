import { expect, test } from 'vitest'
import { gae } from '../../../returns/advantages.ts'
import { grpoAdvantages } from './grpo.ts'
import { maxrlAdvantages, rlooAdvantages } from './baselines.ts'
import { reinforcePlusPlusBaselineAdvantages } from './reinforce-plus-plus.ts'

const rewards = [1, 0, 0.4, -0.1, 1]

function near(actual: ArrayLike<number>, expected: number[], digits = 5): void {
  expect(actual.length).toBe(expected.length)
  expected.forEach((value, at) => expect(actual[at]).toBeCloseTo(value, digits))
}

// Golden values: torch 2.13, r.std() unbiased, formulas of TRL (grpo, rloo), SkyRL (maxrl) and verl (reinforce++).
test('grpo agrees with torch, with and without the deviation', () => {
  near(grpoAdvantages(rewards), [1.0239741, -0.8722744, -0.113775, -1.0618993, 1.0239741])
  near(grpoAdvantages(rewards, { std: false }), [0.54, -0.46, -0.06, -0.56, 0.54])
})

test('rloo and maxrl agree with torch', () => {
  near(rlooAdvantages(rewards), [0.675, -0.575, -0.075, -0.7, 0.675])
  near(maxrlAdvantages([1, 0, 0, 1, 0]), [1.4999962, -0.9999975, -0.9999975, 1.4999962, -0.9999975])
})

test('maxrl: negative rewards count as 0 and never flip the gradient', () => {
  expect(maxrlAdvantages([1, -0.1, 0, -0.06])).toEqual(maxrlAdvantages([1, 0, 0, 0]))
  // The mean is below 0, so no reward is above 0.
  expect(maxrlAdvantages([-0.1, -0.02, null, -0.4])).toEqual([0, 0, 0, 0])
  expect(maxrlAdvantages([0.4, -2])[0]).toBeGreaterThan(0)
})

test('reinforce++ with baseline agrees with verl, each token of the batch counted', () => {
  const groups = [
    [1, 0, 0.5],
    [0, 0, 1],
  ]
  const tokens = [
    [2, 3, 1],
    [4, 1, 2],
  ]
  const [first, second] = reinforcePlusPlusBaselineAdvantages(groups, tokens)
  near(first, [1.2024372, -0.9291559, 0.1366406])
  near(second, [-0.5738904, -0.5738904, 1.5577025])
})

test('a masked member has no effect', () => {
  for (const estimate of [grpoAdvantages, rlooAdvantages]) {
    const without = estimate(rewards)
    const masked = estimate([null, ...rewards.slice(0, 3), null, ...rewards.slice(3)])
    near(masked, [0, ...without.slice(0, 3), 0, ...without.slice(3)])
  }
})

test('equal rewards, one member and no members give no advantages', () => {
  for (const estimate of [grpoAdvantages, rlooAdvantages, maxrlAdvantages]) {
    // 0.1 three times has a rounded mean; without care its deviation would be noise scaled up to an advantage.
    expect(estimate([0.1, 0.1, 0.1])).toEqual([0, 0, 0])
    expect(estimate([1])).toEqual([0])
    expect(estimate([null, 1, null])).toEqual([0, 0, 0])
    expect(estimate([null, null])).toEqual([0, 0])
    expect(estimate([])).toEqual([])
  }
})

test('gae: termination ends the return, truncation bootstraps', () => {
  const { advantages, returns } = gae(
    {
      rewards: [1, 0, 2, 0.5, 1],
      values: [0.5, 0.2, 0.1, 0.3, 0.4],
      nextValues: [0.2, 0.1, 0.9, 0.4, 0.7],
      terminated: [0, 0, 1, 0, 0],
      truncated: [0, 0, 0, 0, 1],
    },
    { gamma: 0.9, lambda: 0.8 },
  )
  near(advantages, [1.58576, 1.258, 1.9, 1.4456, 1.23])
  near(returns, [2.08576, 1.458, 2.0, 1.7456, 1.63])
})
