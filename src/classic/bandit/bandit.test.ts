import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { createBernoulliBandit, createLinearBandit } from '../environments/bandit/bandits.ts'
import {
  betaDraw,
  decayingGreedy,
  exp3,
  exploreFirst,
  linUcb,
  playBandit,
  thompson,
  ucb1,
} from './strategies.ts'
import type { BanditStrategy } from './strategies.ts'

const horizon = 2000
const definition = createBernoulliBandit({ arms: 5, horizon })
const random = createRandom('bandit test', 1)
const uniform: BanditStrategy = { choose: () => random.int(5), learn: () => {} }

/** Mean regret over ten bandits, after half of the pulls and after all. */
function regrets(make: () => BanditStrategy): { half: number; whole: number } {
  const plays = Array.from({ length: 10 }, (_, seed) =>
    playBandit(definition, make(), { seed, context: { instance: seed } }),
  )
  const at = (pull: number): number => plays.reduce((sum, { regrets }) => sum + regrets[pull], 0) / 10
  return { half: at(horizon / 2 - 1), whole: at(horizon - 1) }
}

test('each strategy has less regret than random play, and less and less per pull', () => {
  const chance = regrets(() => uniform).whole
  const strategies: Record<string, () => BanditStrategy> = {
    ucb1: () => ucb1(5),
    thompson: () => thompson(5, random),
    exploreFirst: () => exploreFirst(5, { rounds: 100 }),
    decayingGreedy: () => decayingGreedy(5, random),
    exp3: () => exp3(5, { learningRate: Math.sqrt((2 * Math.log(5)) / (horizon * 5)) }, random),
  }
  for (const [name, make] of Object.entries(strategies)) {
    const { half, whole } = regrets(make)
    expect(whole, name).toBeLessThan(chance / 2)
    expect(whole - half, name).toBeLessThan(0.8 * half)
  }
})

test('regret follows from the pulls, and the same seed and context give the same bandit', () => {
  const context = { instance: 3 }
  const stay: BanditStrategy = { choose: () => 0, learn: () => {} }
  const { regrets, rewards } = playBandit(definition, stay, { seed: 5, context })
  expect(regrets).toHaveLength(horizon)
  expect(regrets[9]).toBeCloseTo(10 * regrets[0], 9)
  expect(playBandit(definition, stay, { seed: 5, context }).rewards).toEqual(rewards)
})

test('explore-first pulls each arm the set number of times, then only the best one', () => {
  const strategy = exploreFirst(3, { rounds: 2 })
  const chosen = Array.from({ length: 9 }, () => {
    const arm = strategy.choose(new Float32Array(0))
    strategy.learn(arm, arm === 1 ? 1 : 0, new Float32Array(0))
    return arm
  })
  expect(chosen).toEqual([0, 1, 2, 0, 1, 2, 1, 1, 1])
})

test('beta samples have the mean and variance of the distribution', () => {
  const draws = Array.from({ length: 20_000 }, () => betaDraw(0.5, 2, random))
  const mean = draws.reduce((sum, x) => sum + x, 0) / draws.length
  const variance = draws.reduce((sum, x) => sum + (x - mean) ** 2, 0) / draws.length
  expect(mean).toBeCloseTo(0.2, 2)
  expect(variance).toBeCloseTo(1 / (2.5 ** 2 * 3.5), 2)
})

test('LinUCB estimates equal ridge regression, and its regret is below that of a strategy without features', () => {
  const learner = linUcb(1, { dimensions: 2, ridge: 0.5 })
  learner.learn(0, 2, Float32Array.of(1, 0))
  learner.learn(0, -1, Float32Array.of(0, 2))
  expect(learner.estimate(0, Float32Array.of(1, 1))).toBeCloseTo(2 / 1.5 - 2 / 4.5, 9)

  const linear = createLinearBandit({ horizon: 1000 })
  const last = (strategy: BanditStrategy): number =>
    playBandit(linear, strategy, { seed: 2, context: { instance: 7 } }).regrets.at(-1)!
  expect(last(linUcb(5, { dimensions: 4, alpha: 0.3 }))).toBeLessThan(0.3 * last(ucb1(5)))
})

test('EXP3 reports its probabilities, and adapts when an adversary moves the reward', () => {
  const strategy = exp3(2, { learningRate: 0.05 }, random)
  let rewarded = 0
  for (let t = 0; t < 4000; t++) {
    const [chance] = strategy.policy()
    const arm = strategy.choose(new Float32Array(0))
    const reward = arm === (chance > 0.5 ? 1 : 0) ? 1 : 0
    rewarded += reward
    strategy.learn(arm, reward, new Float32Array(0))
  }
  expect(rewarded / 4000).toBeGreaterThan(0.4)
})
