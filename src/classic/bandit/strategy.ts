/** Chooses arms of a bandit, pull by pull, and learns from what they pay. */
export interface BanditStrategy {
  /** An arm, from 0; `features` is what is observed before the pull. */
  choose(features: Float32Array): number
  /** What the pull paid; strategies with a proof behind them expect rewards in [0, 1]. */
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
