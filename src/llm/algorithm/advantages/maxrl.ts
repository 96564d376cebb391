import type { GroupRewards } from './group.ts'
import { isUniform, statistics } from './group.ts'

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
