import type { GroupRewards } from './group.ts'
import { isUniform, statistics } from './group.ts'

/**
 * Maximum-likelihood advantages: `(r - mean) / mean` for rewards of 0 or more. Dividing by the mean instead of the
 * deviation weights rare successes like the gradient of log success probability does. A group without any reward
 * gives zeros.
 *
 * Source: MaxRL; SkyRL's `maxrl` estimator (its epsilon of 1e-6 is `epsilon`).
 *
 * @throws RangeError where the mean is negative: the estimator is defined for rewards of 0 or more.
 */
export function maxrlAdvantages(rewards: GroupRewards, settings: { epsilon?: number } = {}): number[] {
  if (isUniform(rewards)) return rewards.map(() => 0)
  const { mean } = statistics(rewards)
  if (mean < 0) throw new RangeError(`maxrl needs rewards of 0 or more; the mean of the group is ${mean}`)
  const scale = 1 / (mean + (settings.epsilon ?? 1e-6))
  return rewards.map((reward) => (reward === null ? 0 : (reward - mean) * scale))
}
