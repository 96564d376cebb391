import type { GroupRewards } from './group.ts'
import { statistics } from './group.ts'

/**
 * REINFORCE++ with the group's mean as baseline: centred within each group, then whitened over all tokens of the
 * batch: `(a - mean) / sqrt(var + 1e-8)` with the unbiased variance, each member counted once for each of its tokens.
 *
 * Source: REINFORCE++ (arXiv 2501.03262); verl's `reinforce_plus_plus_baseline` with its `masked_whiten`.
 *
 * @param tokens sampled tokens of each member, same shape as `groups`; without it each member counts once.
 */
export function reinforcePlusPlusAdvantages(
  groups: readonly GroupRewards[],
  tokens?: readonly (readonly number[])[],
): number[][] {
  const centred = groups.map((rewards) => {
    const { mean, count } = statistics(rewards)
    // One member alone is not centred, as in verl: the batch is then its only baseline.
    return rewards.map((reward) => (reward === null ? null : count === 1 ? reward : reward - mean))
  })
  const weighted = centred.flatMap((members, g) =>
    members.flatMap((value, m) => (value === null ? [] : [{ value, weight: tokens?.[g][m] ?? 1 }])),
  )
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0)
  if (total < 2) return groups.map((rewards) => rewards.map(() => 0))
  const mean = weighted.reduce((sum, { value, weight }) => sum + weight * value, 0) / total
  const squares = weighted.reduce((sum, { value, weight }) => sum + weight * (value - mean) ** 2, 0)
  const scale = 1 / Math.sqrt(squares / (total - 1) + 1e-8)
  return centred.map((members) => members.map((value) => (value === null ? 0 : (value - mean) * scale)))
}
