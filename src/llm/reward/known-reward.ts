import type { RewardFunction } from './types.ts'

/**
 * The reward of episodes that something else has judged, by their id: a reward model that reads many at once, a person. `null` for
 * those that it did not.
 */
export function knownReward(scores: ReadonlyMap<string, number | null>): RewardFunction {
  return (episode) => scores.get(episode.id) ?? null
}
