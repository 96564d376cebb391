import type { GroupRewards } from './group.ts'

/**
 * Advantages against the greedy answer: the reward of each sampled episode less the reward that the same policy got
 * on the same task without chance (temperature 0).
 *
 * Source: ReMax (arXiv 2310.10505); verl's `remax`, TRL has none. Where the greedy episode could not be judged
 * (`null`) there is no baseline, and the group teaches nothing.
 */
export function remaxAdvantages(rewards: GroupRewards, greedyReward: number | null): number[] {
  return rewards.map((reward) => (reward === null || greedyReward === null ? 0 : reward - greedyReward))
}
