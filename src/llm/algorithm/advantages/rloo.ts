import type { GroupRewards } from './group.ts'
import { isUniform, statistics } from './group.ts'

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
