import type { Random } from '../../engine/random/index.ts'
import type { BanditStrategy } from './strategy.ts'

/**
 * Exponential weights on losses that are estimated from what was pulled (Auer et al. 2002, "The nonstochastic multiarmed
 * bandit problem"): safe against rewards that an opponent chooses. With sqrt(2 ln arms / (T arms)) as learning rate its
 * regret against the best arm is at most sqrt(2 T arms ln arms).
 */
export function exp3(
  arms: number,
  { learningRate }: { learningRate: number },
  random: Random,
): BanditStrategy & {
  /** The chances [arms] with which arms are chosen now. */
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
