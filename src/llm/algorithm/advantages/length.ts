import type { GroupRewards } from './group.ts'

/**
 * What an answer pays for coming near the limit: 0 up to `limit - cache` tokens, then falling linearly to -1 at
 * `limit`, and -1 beyond. Added to the reward.
 *
 * Source: DAPO (arXiv 2503.14476), eq. 13; TRL's `get_soft_overlong_punishment`.
 */
export function softOverlongPenalty(
  length: number,
  { limit, cache }: { limit: number; cache: number },
): number {
  const free = limit - cache
  if (length <= free) return 0
  return length <= limit ? (free - length) / cache : -1
}

/**
 * Rewards with the cut-off answers masked (`null`): whether they would have been right is not known, and -1 for them
 * would punish long thought itself.
 *
 * Source: DAPO (arXiv 2503.14476), overlong filtering; TRL's `mask_truncated_completions`.
 */
export function maskOverlong(
  rewards: GroupRewards,
  truncated: ArrayLike<boolean | number>,
): (number | null)[] {
  return rewards.map((reward, i) => (truncated[i] ? null : reward))
}

/**
 * Rewards for brevity among the answers of a group: `0.5 - (length - min) / (max - min)` for right ones, at most 0 for
 * wrong ones, all 0 where the lengths are equal. Scaled and added to the reward. Masked members (`null`) get 0 and
 * count for nothing.
 *
 * Source: Kimi k1.5 (arXiv 2501.12599).
 *
 * @param right whether each answer is right; same length as `lengths`.
 */
export function kimiLengthRewards(lengths: ArrayLike<number>, right: readonly (boolean | null)[]): number[] {
  const counted = right.flatMap((known, i) => (known === null ? [] : [lengths[i]]))
  const least = Math.min(...counted)
  const range = Math.max(...counted) - least
  return right.map((known, i) => {
    if (known === null || range === 0) return 0
    const reward = 0.5 - (lengths[i] - least) / range
    return known ? reward : Math.min(0, reward)
  })
}

/**
 * Rewards less a share for length that grows with what the group achieves: `r - weight * mean(r) * length / max`.
 * A group that solves nothing pays nothing for trying at length. Meant for rewards of 0 or more: a negative mean would
 * pay for length.
 *
 * Source: prime-rl's `length_penalty` of its `grpo` (there also over tokens read and turns; call it once for each).
 */
export function relativeLengthPenalty(
  rewards: GroupRewards,
  lengths: ArrayLike<number>,
  { weight }: { weight: number },
): (number | null)[] {
  const judged = rewards.filter((reward) => reward !== null)
  const mean = judged.reduce((sum, reward) => sum + reward, 0) / Math.max(1, judged.length)
  const longest = rewards.reduce<number>((most, r, i) => (r === null ? most : Math.max(most, lengths[i])), 0)
  if (longest === 0) return [...rewards]
  return rewards.map((reward, i) =>
    reward === null ? null : reward - (weight * mean * lengths[i]) / longest,
  )
}
