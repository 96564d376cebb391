import type { GroupRewards } from '../advantages/group.ts'

/** Members of a group, as indices. */
export interface Pair {
  chosen: number
  rejected: number
}

/**
 * Pairs to learn from among answers that the policy itself just gave to one prompt: `extremes` (default) the best
 * against the worst, `all` every two that differ. Pairs whose rewards differ by `margin` or less are left out, so
 * equal rewards give none; masked members (`null`) take no part. The earlier of equals is taken.
 *
 * Source: online DPO (arXiv 2402.04792). TRL's trainer draws two answers a prompt and takes the first of equals as
 * the chosen one, which trains on noise.
 */
export function onlinePairs(
  rewards: GroupRewards,
  settings: { pairing?: 'extremes' | 'all'; margin?: number } = {},
): Pair[] {
  const { pairing = 'extremes', margin = 0 } = settings
  const members = rewards.flatMap((reward, at) => (reward === null ? [] : [{ reward, at }]))
  const ordered = members.sort((a, b) => b.reward - a.reward)
  if (pairing === 'all')
    return ordered.flatMap((high, i) =>
      ordered
        .slice(i + 1)
        .filter((low) => high.reward - low.reward > margin)
        .map((low) => ({ chosen: high.at, rejected: low.at })),
    )
  if (ordered.length === 0) return []
  const high = ordered[0]
  const least = ordered[ordered.length - 1].reward
  const low = ordered.find(({ reward }) => reward === least) ?? high
  return high.reward - low.reward > margin ? [{ chosen: high.at, rejected: low.at }] : []
}
