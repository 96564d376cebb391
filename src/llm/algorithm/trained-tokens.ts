import type { Episode } from '../episode/types.ts'

/** Tokens that the policy chose itself in an episode, those of a masked one included. */
export function trainedTokens(episode: Episode): number {
  let count = 0
  for (const sample of episode.samples)
    if (sample.trainable) for (const chosen of sample.mask) count += chosen
  return count
}
