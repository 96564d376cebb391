import { type GroupRewards, isUniform, statistics } from './group.ts'

/**
 * Leave-one-out advantages: the reward less the mean of the other members, `n / (n - 1) * (r - mean)`.
 * One member alone has nothing to be compared with and gives 0.
 *
 * Source: Back to Basics (arXiv 2402.14740); equal to TRL's and verl's `rloo`.
 */
export function rlooAdvantages(rewards: GroupRewards): number[] {
  if (isUniform(rewards)) return rewards.map(() => 0)
  const { mean, count } = statistics(rewards)
  return rewards.map((reward) => (reward === null ? 0 : (count / (count - 1)) * (reward - mean)))
}

/**
 * Advantages against the baseline of least variance for on-policy learning, `r - sum(length * r) / sum(length)`: the
 * squared norm of a sequence's gradient is taken to grow with its length.
 *
 * Source: OPO (arXiv 2505.23585); verl's `opo`. One member alone gives 0 here and its reward in verl.
 *
 * @param lengths trained tokens of each member, 0 or more, same length as `rewards`.
 */
export function opoAdvantages(rewards: GroupRewards, lengths: ArrayLike<number>): number[] {
  if (isUniform(rewards)) return rewards.map(() => 0)
  const tokens = rewards.reduce<number>((sum, reward, i) => sum + (reward === null ? 0 : lengths[i]), 0)
  if (tokens === 0) return rewards.map(() => 0)
  const baseline = rewards.reduce<number>((sum, reward, i) => sum + lengths[i] * (reward ?? 0), 0) / tokens
  return rewards.map((reward) => (reward === null ? 0 : reward - baseline))
}

/**
 * Advantages against the greedy answer: the reward of each sampled episode less the reward that the same policy got
 * on the same task without chance (temperature 0).
 *
 * Source: ReMax (arXiv 2310.10505); verl's `remax`, TRL has none. Where the greedy episode could not be judged
 * (`null`) there is no baseline, and the group teaches nothing.
 */
export function remaxAdvantages(rewards: GroupRewards, greedyReward: number | null): number[] {
  return rewards.map((reward) => (reward === null || greedyReward === null ? 0 : reward - greedyReward))
}

/**
 * Maximum-likelihood advantages: `(r - mean) / mean`. Dividing by the mean instead of the deviation weights rare
 * successes like the gradient of log success probability does. The mean stands for a probability, so a reward below 0
 * (the costs of an episode that failed) counts as 0; a group without any reward gives zeros.
 *
 * Source: MaxRL (arXiv 2602.02710); SkyRL's `maxrl` estimator (its epsilon of 1e-6 is `epsilon`), which takes negative rewards
 * as they are and changes the sign of the gradient where their mean is below 0.
 */
export function maxrlAdvantages(rewards: GroupRewards, settings: { epsilon?: number } = {}): number[] {
  const won = rewards.map((reward) => (reward === null ? null : Math.max(0, reward)))
  if (isUniform(won)) return won.map(() => 0)
  const { mean } = statistics(won)
  const scale = 1 / (mean + (settings.epsilon ?? 1e-6))
  return won.map((reward) => (reward === null ? 0 : (reward - mean) * scale))
}
