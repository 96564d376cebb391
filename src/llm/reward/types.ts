import type { Episode } from '../episode/types.ts'

/** A score with the named parts it is made of. */
export interface Scored {
  value: number
  parts: Record<string, number>
  reason?: string
}

/**
 * What an episode was worth. The same function trains, evaluates and searches. `null` says that it could not be
 * judged: the episode is masked and enters neither a gradient nor a mean.
 */
export type RewardFunction = (episode: Episode) => number | Scored | null
