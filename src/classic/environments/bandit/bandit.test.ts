import { expect, test } from 'vitest'
import { createVectorEnvironment, fastStream } from '../../environment/index.ts'
import type { VectorEnvironment } from '../../environment/index.ts'
import {
  adversarialBandit,
  bernoulliBandit,
  createBernoulliBandit,
  createGaussianBandit,
  type BanditDefinition,
  bestArmMean,
  expectedRegret,
  createLinearBandit,
} from './bandits.ts'

/** Plays one episode an environment; `choose` writes the action of an environment. Returns mean return and mean regret. */
function play(
  definition: BanditDefinition,
  numEnvs: number,
  choose: (vector: VectorEnvironment, i: number) => number,
) {
  const vector = createVectorEnvironment(definition, {
    numEnvs,
    autoreset: 'disabled',
    contextFor: (instance) => ({ instance }),
  })
  vector.reset()
  let regret = 0
  let pulls = 0
  while (vector.terminated[0] === 0) {
    for (let i = 0; i < numEnvs; i++) {
      vector.actions[i] = choose(vector, i)
      regret += expectedRegret(definition, vector.envs, i) / numEnvs
    }
    vector.step()
    pulls++
  }
  return { mean: vector.returns.reduce((sum, value) => sum + value, 0) / numEnvs, regret, pulls }
}

/** The arm with the greatest expected reward. */
function best(definition: BanditDefinition, { envs }: VectorEnvironment, i: number): number {
  const means = Array.from({ length: definition.arms }, (_, arm) => definition.armMean(envs, i, arm))
  return means.indexOf(Math.max(...means))
}

test('10 pulls of 5 Bernoulli arms return 5.0 (random), 6.6 (greedy with Laplace means), 8.3 (oracle)', () => {
  const numEnvs = 4000
  const definition = createBernoulliBandit({ arms: 5, horizon: 10 })
  const chance = fastStream('policy')
  const random = play(definition, numEnvs, () => chance.integers(5))
  expect(Math.abs(random.mean - 5)).toBeLessThan(0.15)
  expect(Math.abs(random.mean + random.regret - 8.33)).toBeLessThan(0.15)
  expect(random.pulls).toBe(10)

  const oracle = play(definition, numEnvs, (vector, i) => best(definition, vector, i))
  expect(oracle.regret).toBe(0)
  expect(Math.abs(oracle.mean - 8.33)).toBeLessThan(0.12)

  const counts = new Float64Array(numEnvs * 10)
  const greedy = play(definition, numEnvs, (vector, i) => {
    if (vector.lengths[i] > 0) {
      counts[i * 10 + vector.actions[i] * 2]++
      counts[i * 10 + vector.actions[i] * 2 + 1] += vector.rewards[i]
    }
    const values = Array.from({ length: 5 }, (_, arm) => {
      const [pulls, wins] = counts.subarray(i * 10 + arm * 2, i * 10 + arm * 2 + 2)
      return (wins + 1) / (pulls + 2)
    })
    return values.indexOf(Math.max(...values))
  })
  expect(Math.abs(greedy.mean - 6.6)).toBeLessThan(0.15)
})

test('means given as context features are the means of the arms', () => {
  const definition = createBernoulliBandit({ arms: 3, means: 'features', horizon: 400 })
  const vector = createVectorEnvironment(definition, {
    numEnvs: 30,
    autoreset: 'disabled',
    contextFor: () => ({ mean0: 0.1, mean1: 0.9, mean2: 0.4 }),
  })
  vector.reset()
  expect(bestArmMean(definition, vector.envs, 4)).toBe(0.9)
  for (let i = 0; i < 30; i++) vector.actions[i] = i % 3
  expect(expectedRegret(definition, vector.envs, 5)).toBeCloseTo(0.5, 12)
  while (vector.terminated[0] === 0) vector.step()
  const mean = [0, 1, 2].map((arm) => vector.returns.filter((_, i) => i % 3 === arm))
  mean.forEach((returns, arm) => {
    const share = returns.reduce((sum, value) => sum + value, 0) / 4000
    expect(Math.abs(share - [0.1, 0.9, 0.4][arm])).toBeLessThan(0.03)
  })
})

test('means of Gaussian arms are standard normal over instances, and the best of ten is 1.54 on average', () => {
  const definition = createGaussianBandit({ horizon: 1 })
  const oracle = play(definition, 6000, (vector, i) => best(definition, vector, i))
  expect(Math.abs(oracle.mean - 1.5388)).toBeLessThan(0.05)
})

test('the reward of the linear bandit is the product of observation and arm', () => {
  const definition = createLinearBandit({ arms: 3, dimensions: 2 })
  const vector = createVectorEnvironment(definition, {
    numEnvs: 50,
    contextFor: () => ({ noise: 0, instance: 3 }),
  })
  vector.reset()
  for (let t = 0; t < 3; t++) {
    const expected = Array.from({ length: 50 }, (_, i) => {
      vector.actions[i] = i % 3
      return definition.armMean(vector.envs, i, i % 3)
    })
    const seen = vector.observations.slice()
    vector.step()
    expect([...vector.rewards]).toEqual(expected)
    // Rewards are linear in the observation, with the same weights in all environments of one instance.
    const [a, b, c] = [0, 3, 6].map((i) => [seen[i * 2], seen[i * 2 + 1], expected[i]])
    const det = a[0] * b[1] - a[1] * b[0]
    const theta = [(a[2] * b[1] - a[1] * b[2]) / det, (a[0] * b[2] - a[2] * b[0]) / det]
    expect(theta[0] * c[0] + theta[1] * c[1]).toBeCloseTo(c[2], 4)
  }
})

test('the adversary fixes its sequence before the first pull', () => {
  const numEnvs = 10
  const vector = createVectorEnvironment(adversarialBandit, {
    numEnvs,
    autoreset: 'disabled',
    contextFor: () => ({ instance: 12, period: 20 }),
  })
  const sequences = [0, 1].map((seed) => {
    vector.reset({ seed })
    const rewards: number[] = []
    while (vector.terminated[0] === 0) {
      for (let i = 0; i < numEnvs; i++) vector.actions[i] = i
      vector.step()
      rewards.push(...vector.rewards)
    }
    return rewards
  })
  expect(sequences[1]).toEqual(sequences[0])
  for (let arm = 0; arm < numEnvs; arm++) {
    expect(adversarialBandit.armMean(vector.envs, 0, arm)).toBeCloseTo(vector.returns[arm] / 100, 12)
  }
  expect(bestArmMean(adversarialBandit, vector.envs, 0)).toBeCloseTo(Math.max(...vector.returns) / 100, 12)
  // Another arm is favoured in other parts of the sequence.
  const favoured = [0, 1, 2, 3, 4].map((part) => {
    const sums = Array.from({ length: numEnvs }, (_, arm) => {
      const pulls = sequences[0].slice(part * 20 * numEnvs, (part + 1) * 20 * numEnvs)
      return pulls.filter((_, k) => k % numEnvs === arm).reduce((sum, value) => sum + value, 0)
    })
    return sums.indexOf(Math.max(...sums))
  })
  expect(new Set(favoured).size).toBeGreaterThan(1)
})

test('a line of text shows the progress of the episode', () => {
  const vector = createVectorEnvironment(bernoulliBandit, { numEnvs: 1 })
  vector.reset()
  expect(bernoulliBandit.text?.(vector.envs, 0)).toBe('pull 0 of 100')
  vector.actions[0] = 3
  vector.step()
  expect(bernoulliBandit.text?.(vector.envs, 0)).toMatch(/^pull 1 of 100 {3}arm 3 {3}reward [01]\.000$/)
})
