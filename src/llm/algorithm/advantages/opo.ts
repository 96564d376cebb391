import type { GroupRewards } from './group.ts'
import { isUniform } from './group.ts'

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
