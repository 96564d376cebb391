import { onlinePairs } from '../../algorithm/preference/choice.ts'
import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode } from '../../episode/types.ts'
import type { Answer, PreferencePair } from './types.ts'

/**
 * An episode as one answer: what stands before the policy's first token is the prompt, and what tools and users said afterwards
 * has weight 0. `null` for masked episodes and those whose window was cut or parted, which are no single row.
 */
export function episodeAnswer(episode: Episode): Answer | null {
  const rows = toTrainingSequences(episode, () => ({ advantage: 0, weights: { ce: 1 } }))
  if (rows.length !== 1) return null
  const [{ tokens, weights }] = rows
  const start = weights.ce.indexOf(1)
  return { prompt: tokens.slice(0, start), tokens: tokens.slice(start), weights: weights.ce.slice(start) }
}

/**
 * Pairs among episodes of one task, by their rewards: the best against the worst, or all that differ (`onlinePairs`). Masked
 * episodes and unjudged ones (`null`) take no part.
 */
export function episodePairs(
  episodes: readonly Episode[],
  rewards: readonly (number | null)[],
  settings: Parameters<typeof onlinePairs>[1] = {},
): PreferencePair[] {
  const answers = episodes.map(episodeAnswer)
  const judged = rewards.map((reward, i) => (answers[i] === null ? null : reward))
  return onlinePairs(judged, settings).map(({ chosen, rejected }) => {
    const [good, bad] = [answers[chosen]!, answers[rejected]!]
    const weights = { chosen: good.weights!, rejected: bad.weights! }
    return { prompt: good.prompt, chosen: good.tokens, rejected: bad.tokens, weights }
  })
}
