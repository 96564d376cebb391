import { toTrainingSequences } from '../episode/training-sequences.ts'
import type { Episode } from '../episode/types.ts'
import type { LossSettings } from '../model-backend.ts'
import { tokenWeights } from './losses/tokens.ts'
import type { PolicyUpdate } from './types.ts'

/** Number of tokens that the policy chose in an episode, including masked episodes. */
export function trainedTokens(episode: Episode): number {
  let count = 0
  for (const sample of episode.samples)
    if (sample.trainable) for (const chosen of sample.mask) count += chosen
  return count
}

/**
 * Supervised fine-tuning: cross-entropy of the demonstrator's tokens, the mean over all of them in the batch. Tokens of
 * tools, user and system are never trained.
 */
export function supervised(episodes: readonly Episode[]): PolicyUpdate & { loss: LossSettings } {
  const judged = episodes.filter((episode) => episode.status !== 'masked')
  const weights = tokenWeights(judged.map(trainedTokens), { mode: 'token-mean' })
  return {
    sequences: judged.flatMap((episode, at) =>
      toTrainingSequences(episode, () => ({ advantage: 0, weights: { ce: weights[at] } })),
    ),
    loss: { name: 'cross_entropy' },
    metrics: {},
  }
}
