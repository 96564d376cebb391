import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { arms, choices, drawBandit, gamma, nextStates, reward, states, valueOf } from './bandit.ts'
import type { Choose } from './bandit.ts'
import { byIndex, myopic, optimal } from './policies.ts'

const bandit = drawBandit(1)

test('next states are a distribution, in which each arm is good as often as it should be', () => {
  for (const [state, choice] of [
    [0, 3],
    [77, 14],
    [127, 0],
  ]) {
    const row = nextStates(bandit, state, choice)
    expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 12)
    for (const arm of each(arms)) {
      const good = row.reduce((sum, p, next) => sum + p * bandit.good(next, arm), 0)
      expect(good).toBeCloseTo(bandit.next[arm][bandit.good(state, arm)][bandit.reach[choice][arm]], 12)
    }
  }
  for (const reach of bandit.reach) expect(reach.reduce((a, b) => a + b)).toBe(6)
})

test('the value of a policy is the mean of what it is rewarded with', () => {
  const random = createRandom('episodes', 1)
  const choose: Choose = (state) => (7 * state + 3) % choices.length
  const rows = each(states).map((state) => nextStates(bandit, state, choose(state)))
  const returns = each(1000).map((episode) => {
    let [state, total] = [episode % states, 0]
    // As many steps as the exact value has sweeps.
    for (let t = 0; t < 60; t++) {
      total += (1 - gamma) * gamma ** t * reward(bandit, state)
      state = random.weighted(rows[state])
    }
    return total
  })
  const deviation = Math.sqrt(average(returns.map((v) => (v - average(returns)) ** 2)))
  const { score, used } = valueOf(bandit, choose)
  expect(Math.abs(average(returns) - score)).toBeLessThan((4 * deviation) / Math.sqrt(1000))
  expect(used).toBe(choices.length)
})

test('no other choice in a state improves the optimal policy, and no rival exceeds it', () => {
  const policy = optimal(bandit)
  const best = valueOf(bandit, policy).score
  const random = createRandom('changes', 1)
  for (let change = 0; change < 15; change++) {
    const [at, other] = [random.int(states), random.int(choices.length)]
    // Sweeps that end early leave a little to gain.
    const { score } = valueOf(bandit, (state) => (state === at ? other : policy(state)))
    expect(score).toBeLessThan(best + 1e-6)
  }
  for (const rival of [myopic(bandit), byIndex(bandit)]) {
    expect(valueOf(bandit, rival).score).toBeLessThanOrEqual(best)
    expect(valueOf(bandit, rival).score).toBeGreaterThan(valueOf(bandit, () => 0).score)
  }
})

test('if one arm alone can be raised, policies by the model reach it', () => {
  for (const one of each(arms)) {
    const next = each(arms).map((arm) => [0, 1].map(() => (arm === one ? [0.1, 0.5, 0.5] : [0.3, 0.3, 0.3])))
    const changed = { ...bandit, next }
    if (changed.reach.every((reach) => reach[one] === 0)) continue
    for (const make of [myopic, byIndex]) {
      const choose = make(changed)
      for (const state of [0, 50, 127])
        expect(changed.reach[choose(state)][one], make.name).toBeGreaterThan(0)
    }
  }
  expect(drawBandit(1).next).toEqual(bandit.next)
  expect(drawBandit(2).next).not.toEqual(bandit.next)
})
