/**
 * The rewards of one group: episodes of the same task under the same weights. `null` marks a masked member, which is
 * excluded from all statistics and has advantage 0.
 */
export type GroupRewards = readonly (number | null)[]

/** Mean and unbiased standard deviation (n - 1) of the unmasked members; the deviation is 0 for fewer than two. */
export function statistics(rewards: GroupRewards): { mean: number; deviation: number; count: number } {
  const values = rewards.filter((reward) => reward !== null)
  const count = values.length
  if (count === 0) return { mean: 0, deviation: 0, count }
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, deviation: count < 2 ? 0 : Math.sqrt(squares / (count - 1)), count }
}

/**
 * True if all unmasked members have the same reward (a zero-variance group), so no relative advantage can teach
 * anything.
 */
export function isUniform(rewards: GroupRewards): boolean {
  const values = rewards.filter((reward) => reward !== null)
  return values.every((value) => value === values[0])
}

/**
 * Indices of the groups with reward variance. The caller fills the batch with groups of other tasks, so that the number
 * of groups with a gradient stays constant.
 *
 * Source: DAPO (arXiv 2503.14476), eq. 11; SkyRL's `dynamic_sampling: filter` and `zero_variance_filter`, verl's
 * `filter_groups`. Without it, `grpo` skips zero-variance groups but counts them in the normaliser.
 *
 * @param settings the smallest difference between highest and lowest reward that counts. Default: any.
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

/** Settings of `expertMembers`. */
export interface ExpertSettings {
  /** Only members with at least this reward. Default: 1. */
  threshold?: number
  /** Most members per group, best first; earlier members first among equals. Default: all. */
  best?: number
}

/**
 * Indices of the members of each group to train on, in order: those that reach the threshold, at most `best` of them.
 * Train on them with `supervised`. Alternating sampling, selection and training is expert iteration.
 *
 * Sources: STaR (arXiv 2203.14465) and ReST-EM (arXiv 2312.06585): all correct ones, with a cap per task; RAFT (arXiv
 * 2304.06767): the single best, `{ threshold: -Infinity, best: 1 }`.
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
