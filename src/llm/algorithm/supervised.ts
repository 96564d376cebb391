import { toTrainingSequences } from '../episode/training-sequences.ts'
import type { Episode } from '../episode/types.ts'
import type { LossSettings } from '../model-backend.ts'
import { tokenWeights } from './losses/aggregate.ts'
import { trainedTokens } from './trained-tokens.ts'
import type { PolicyUpdate } from './types.ts'

/**
 * Learning by demonstration: cross-entropy of what the demonstrator said, the mean over all its tokens of the batch.
 * What tools, user and system said is never trained.
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
