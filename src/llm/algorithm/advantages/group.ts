/**
 * The rewards of one group: episodes of the same task under the same weights. `null` marks a masked member; it
 * takes no part in any statistic and its advantage is 0.
 */
export type GroupRewards = readonly (number | null)[]

/** Mean and unbiased standard deviation (n - 1) of the members that count; deviation 0 below two. */
export function statistics(rewards: GroupRewards): { mean: number; deviation: number; count: number } {
  const values = rewards.filter((reward) => reward !== null)
  const count = values.length
  if (count === 0) return { mean: 0, deviation: 0, count }
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, deviation: count < 2 ? 0 : Math.sqrt(squares / (count - 1)), count }
}

/** True where all members that count got the same, so no relative advantage can teach anything. */
export function isUniform(rewards: GroupRewards): boolean {
  const values = rewards.filter((reward) => reward !== null)
  return values.every((value) => value === values[0])
}

/**
 * The groups worth training on, as indices: those whose members did not all get the same. What is missing from the
 * batch then is sampled anew from other tasks until it is full, so that its size in gradients stays constant.
 *
 * Source: DAPO (arXiv 2503.14476), eq. 11; SkyRL's `dynamic_sampling: filter` and `zero_variance_filter`, verl's
 * `filter_groups`. `grpo` without it leaves such groups uncomputed but counts them in the normaliser.
 *
 * @param settings the least spread (highest less lowest reward) that counts as a difference, default: any.
 */
export function informativeGroups(
  groups: readonly GroupRewards[],
  settings: { spread?: number } = {},
): number[] {
  const { spread = 0 } = settings
  return groups.flatMap((rewards, g) => {
    const judged = rewards.filter((reward) => reward !== null)
    return !isUniform(rewards) && Math.max(...judged) - Math.min(...judged) >= spread ? [g] : []
  })
}

export interface ExpertSettings {
  /** Only members with at least this reward. Default 1. */
  threshold?: number
  /** At most this many a group, the best first, the earlier of equals first. Default: all. */
  best?: number
}

/**
 * The members of each group to imitate, as indices in order: those that reach the threshold, at most `best` of them.
 * Training on them is `supervised`; sampling, choosing and imitating in turn is expert iteration.
 *
 * Sources: STaR (arXiv 2203.14465) and ReST-EM (arXiv 2312.06585): all that are right, with a cap a task;
 * RAFT (arXiv 2304.06767): the single best, `{ threshold: -Infinity, best: 1 }`.
 */
export function expertMembers(groups: readonly GroupRewards[], settings: ExpertSettings = {}): number[][] {
  const { threshold = 1, best = Infinity } = settings
  return groups.map((rewards) =>
    rewards
      .flatMap((reward, at) => (reward !== null && reward >= threshold ? [{ reward, at }] : []))
      .sort((a, b) => b.reward - a.reward)
      .slice(0, best)
      .map(({ at }) => at)
      .sort((a, b) => a - b),
  )
}
