import { createVectorEnvironment } from '../environment/index.ts'
import type { Context } from '../environment/index.ts'
import { expectedRegret } from '../environments/bandit/bandits.ts'
import type { BanditDefinition } from '../environments/bandit/bandits.ts'
import type { Random } from '../../engine/random/index.ts'

/** Chooses arms of a bandit, pull by pull, and learns from their rewards. */
export interface BanditStrategy {
  /** Returns the index of an arm. `features` is the observation before the pull. */
  choose(features: Float32Array): number
  /** Takes the reward of the pull. Strategies with a proven bound expect rewards in [0, 1]. */
  learn(arm: number, reward: number, features: Float32Array): void
}

/** Pulls and mean reward of each arm [arms]. */
export interface ArmAverages {
  readonly pulls: Float64Array
  readonly means: Float64Array
  add(arm: number, reward: number): void
}

/** Averages for `arms` arms, before the first pull: all pulls and means are 0. `add` updates them in place. */
export function armAverages(arms: number): ArmAverages {
  const pulls = new Float64Array(arms)
  const means = new Float64Array(arms)
  return {
    pulls,
    means,
    add(arm, reward) {
      means[arm] += (reward - means[arm]) / ++pulls[arm]
    },
  }
}

/** The arm of the highest score, the first of equal ones. */
export function bestArm(arms: number, score: (arm: number) => number): number {
  let best = 0
  let highest = -Infinity
  for (let arm = 0; arm < arms; arm++) {
    const value = score(arm)
    if (value > highest) {
      best = arm
      highest = value
    }
  }
  return best
}

/** The results of a strategy in one episode, by pull. */
export interface BanditPlay {
  rewards: Float64Array
  /** Cumulative expected regret against the best arm of each pull. Excludes the noise of rewards. */
  regrets: Float64Array
}

/** Plays one episode of a bandit with a strategy. The same seed and context give the same bandit. */
export function playBandit(
  definition: BanditDefinition,
  strategy: BanditStrategy,
  { seed = 0, context = {} }: { seed?: number; context?: Context } = {},
): BanditPlay {
  const environment = createVectorEnvironment(definition, { numEnvs: 1, seed, contextFor: () => context })
  environment.reset()
  const { envs, observations, actions, rewards: rewarded, terminated, truncated } = environment
  const seen = observations.slice()
  const rewards: number[] = []
  const regrets: number[] = []
  let regret = 0
  do {
    seen.set(observations)
    actions[0] = strategy.choose(seen)
    regret += expectedRegret(definition, envs, 0)
    environment.step()
    strategy.learn(actions[0], rewarded[0], seen)
    rewards.push(rewarded[0])
    regrets.push(regret)
  } while (terminated[0] === 0 && truncated[0] === 0)
  return { rewards: Float64Array.from(rewards), regrets: Float64Array.from(regrets) }
}

/**
 * UCB1: pulls the arm with the highest mean + sqrt(exploration * ln t / pulls) (Auer, Cesa-Bianchi & Fischer
 * 2002). Its regret grows with the logarithm of time. Default: `exploration` is 2, as in the paper.
 */
export function ucb1(arms: number, { exploration = 2 }: { exploration?: number } = {}): BanditStrategy {
  const averages = armAverages(arms)
  const { pulls, means } = averages
  let time = 0
  return {
    choose: () =>
      bestArm(arms, (arm) =>
        pulls[arm] === 0 ? Infinity : means[arm] + Math.sqrt((exploration * Math.log(time)) / pulls[arm]),
      ),
    learn(arm, reward) {
      time++
      averages.add(arm, reward)
    },
  }
}

/**
 * Exp3: exponential weights on estimated losses (Auer et al. 2002, "The nonstochastic multiarmed bandit problem").
 * Robust against adversarial rewards. With learning rate sqrt(2 ln arms / (T arms)), its regret against the best
 * arm is at most sqrt(2 T arms ln arms).
 */
export function exp3(
  arms: number,
  { learningRate }: { learningRate: number },
  random: Random,
): BanditStrategy & {
  /** Probabilities [arms] of the arms now. */
  policy(): Float64Array
} {
  const losses = new Float64Array(arms)
  const chances = new Float64Array(arms)
  function policy(): Float64Array {
    const least = Math.min(...losses)
    let sum = 0
    for (let arm = 0; arm < arms; arm++) sum += chances[arm] = Math.exp(-learningRate * (losses[arm] - least))
    for (let arm = 0; arm < arms; arm++) chances[arm] /= sum
    return chances
  }
  return {
    policy,
    choose: () => random.weighted(policy()),
    learn(arm, reward) {
      losses[arm] += (1 - reward) / policy()[arm]
    },
  }
}

/**
 * Explore then commit: pulls every arm `rounds` times, then always the arm of the highest mean (Slivkins 2019,
 * "Introduction to Multi-Armed Bandits", algorithm 1.1). For a known horizon T, (T / arms)^(2/3) (ln T)^(1/3)
 * rounds are optimal up to a constant.
 */
export function exploreFirst(arms: number, { rounds }: { rounds: number }): BanditStrategy {
  const averages = armAverages(arms)
  let time = 0
  return {
    choose: () => (time < rounds * arms ? time % arms : bestArm(arms, (arm) => averages.means[arm])),
    learn(arm, reward) {
      if (time++ < rounds * arms) averages.add(arm, reward)
    },
  }
}

/**
 * Epsilon-greedy with a falling rate: a random arm with probability t^(-1/3) (arms ln t)^(1/3), otherwise the arm
 * of the highest mean (Slivkins 2019, algorithm 1.2). Needs no horizon. Its exploration ignores the rewards.
 */
export function decayingGreedy(arms: number, random: Random): BanditStrategy {
  const averages = armAverages(arms)
  let time = 0
  return {
    choose() {
      time++
      const chance = ((arms * Math.log(time + 1)) / time) ** (1 / 3)
      return random.next() < chance ? random.int(arms) : bestArm(arms, (arm) => averages.means[arm])
    },
    learn: (arm, reward) => averages.add(arm, reward),
  }
}

/**
 * Thompson sampling: samples from the posterior of each arm and pulls the arm of the highest sample (Thompson
 * 1933; Agrawal & Goyal 2012). Arms are Bernoulli with a uniform prior. A reward between 0 and 1 counts as that
 * share of a success.
 */
export function thompson(arms: number, random: Random): BanditStrategy {
  const successes = new Float64Array(arms)
  const failures = new Float64Array(arms)
  return {
    choose: () => bestArm(arms, (arm) => betaDraw(1 + successes[arm], 1 + failures[arm], random)),
    learn(arm, reward) {
      successes[arm] += reward
      failures[arm] += 1 - reward
    },
  }
}

/** A sample of a beta distribution whose parameters are both above 0. */
export function betaDraw(a: number, b: number, random: Random): number {
  const x = gammaDraw(a, random)
  return x / (x + gammaDraw(b, random))
}

/** A sample of a gamma distribution of scale 1 (Marsaglia & Tsang 2000). */
function gammaDraw(shape: number, random: Random): number {
  if (shape < 1) return gammaDraw(shape + 1, random) * (1 - random.next()) ** (1 / shape)
  const d = shape - 1 / 3
  for (;;) {
    const x = random.normal()
    const v = (1 + x / (3 * Math.sqrt(d))) ** 3
    if (v > 0 && Math.log(1 - random.next()) < x ** 2 / 2 + d * (1 - v + Math.log(v))) return d * v
  }
}

/**
 * LinUCB with disjoint models: a ridge regression for each arm. Pulls the arm with the highest estimate plus
 * `alpha` standard errors (Li et al. 2010). `dimensions` is the length of the features.
 */
export function linUcb(
  arms: number,
  { dimensions, alpha = 1, ridge = 1 }: { dimensions: number; alpha?: number; ridge?: number },
): BanditStrategy & {
  /** Estimated reward of an arm, without the bonus. */
  estimate(arm: number, features: Float32Array): number
} {
  const size = dimensions * dimensions
  /**
   * [arms, dimensions, dimensions]: inverses of the sums of outer products, updated with the Sherman-Morrison
   * formula.
   */
  const inverse = new Float64Array(arms * size)
  const weighted = new Float64Array(arms * dimensions)
  for (let arm = 0; arm < arms; arm++)
    for (let k = 0; k < dimensions; k++) inverse[arm * size + k * dimensions + k] = 1 / ridge
  const solved = new Float64Array(dimensions)

  /** Writes the arm's inverse times the features into `solved`. Returns the features times that. */
  function solve(arm: number, features: Float32Array): number {
    let spread = 0
    for (let row = 0; row < dimensions; row++) {
      let sum = 0
      for (let k = 0; k < dimensions; k++) sum += inverse[arm * size + row * dimensions + k] * features[k]
      solved[row] = sum
      spread += sum * features[row]
    }
    return spread
  }
  const mean = (arm: number): number =>
    solved.reduce((sum, value, k) => sum + value * weighted[arm * dimensions + k], 0)

  return {
    estimate(arm, features) {
      solve(arm, features)
      return mean(arm)
    },
    choose: (features) =>
      bestArm(arms, (arm) => {
        const spread = solve(arm, features)
        return mean(arm) + alpha * Math.sqrt(spread)
      }),
    learn(arm, reward, features) {
      const spread = solve(arm, features)
      for (let row = 0; row < dimensions; row++) {
        for (let k = 0; k < dimensions; k++)
          inverse[arm * size + row * dimensions + k] -= (solved[row] * solved[k]) / (1 + spread)
        weighted[arm * dimensions + row] += reward * features[row]
      }
    },
  }
}
