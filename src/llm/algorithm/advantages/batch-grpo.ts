import type { GroupRewards } from './group.ts'
import { isUniform, statistics } from './group.ts'

/**
 * Group-relative advantages on the scale of the whole batch: `(r - mean of group) / (std of batch + epsilon)`, the
 * deviation unbiased and taken over the rewards of all groups. Easy and hard tasks then keep their relative weight,
 * where the deviation of a group blows up the nearly solved ones. Groups whose members all got the same give zeros.
 *
 * Source: "Tricks or Traps" (arXiv 2508.08221); TRL's `scale_rewards="batch"`, whose epsilon of 1e-4 is the default.
 */
export function batchGrpoAdvantages(
  groups: readonly GroupRewards[],
  settings: { epsilon?: number } = {},
): number[][] {
  const { deviation } = statistics(groups.flat())
  const scale = 1 / (deviation + (settings.epsilon ?? 1e-4))
  return groups.map((rewards) => {
    if (isUniform(rewards)) return rewards.map(() => 0)
    const { mean } = statistics(rewards)
    return rewards.map((reward) => (reward === null ? 0 : (reward - mean) * scale))
  })
}
