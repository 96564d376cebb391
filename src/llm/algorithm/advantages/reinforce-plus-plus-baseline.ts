import type { GroupRewards } from './group.ts'
import { statistics } from './group.ts'
import { whiten } from '../../../returns/whiten.ts'

/**
 * REINFORCE++ with the group's mean as baseline: centred within each group, then whitened over all tokens of the
 * batch: `(a - mean) / sqrt(var + 1e-8)` with the unbiased variance, each member counted once for each of its tokens.
 *
 * Source: REINFORCE++ (arXiv 2501.03262); verl's `reinforce_plus_plus_baseline` with its `masked_whiten`.
 *
 * @param tokens sampled tokens of each member, same shape as `groups`; without it each member counts once.
 */
export function reinforcePlusPlusBaselineAdvantages(
  groups: readonly GroupRewards[],
  tokens?: readonly (readonly number[])[],
): number[][] {
  const centred = groups.map((rewards) => {
    const { mean, count } = statistics(rewards)
    // One member alone is not centred, as in verl: the batch is then its only baseline.
    return rewards.map((reward) => (reward === null ? null : count === 1 ? reward : reward - mean))
  })
  const counted = centred.flatMap((members, g) =>
    members.flatMap((value, m) => (value === null ? [] : [{ value, weight: tokens?.[g][m] ?? 1 }])),
  )
  const whitened = whiten(
    counted.map(({ value }) => value),
    counted.map(({ weight }) => weight),
  )
  let at = 0
  return centred.map((members) => members.map((value) => (value === null ? 0 : whitened[at++])))
}
