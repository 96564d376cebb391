import type { GroupRewards } from './group.ts'

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
