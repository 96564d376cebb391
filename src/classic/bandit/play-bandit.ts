import { type Context, createVectorEnvironment } from '../environment/index.ts'
import { type BanditDefinition, expectedRegret } from '../environments/bandit/bandit.ts'

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
