import type { Episode } from '../episode/types.ts'
import type { RewardFunction } from './types.ts'

/** How the scores of steps become one: none may be bad, the worst counts, the mean, or the last one. */
export type StepAggregate = 'product' | 'min' | 'mean' | 'last'

/**
 * A process reward: every output of the policy is a step, scored by itself, and the episode is worth what they come to. Its parts
 * are `step:0`, `step:1` ... A step that cannot be judged leaves the episode unjudged, as does an episode without any.
 *
 * Sources: product: "Let's Verify Step by Step" (arXiv 2305.20050); min: Math-Shepherd (arXiv 2312.08935).
 *
 * @param scoreStep of the n-th output, usually a chance from 0 to 1.
 */
export function stepReward(
  scoreStep: (episode: Episode, step: number) => number | null,
  settings: { aggregate?: StepAggregate } = {},
): RewardFunction {
  const { aggregate = 'product' } = settings
  return (episode) => {
    const scores: number[] = []
    for (let step = 0; step < episode.samples.length; step++) {
      const score = scoreStep(episode, step)
      if (score === null) return null
      scores.push(score)
    }
    if (scores.length === 0) return null
    const parts = Object.fromEntries(scores.map((score, step) => [`step:${step}`, score]))
    return { value: together(scores, aggregate), parts }
  }
}

function together(scores: readonly number[], aggregate: StepAggregate): number {
  if (aggregate === 'min') return Math.min(...scores)
  if (aggregate === 'last') return scores[scores.length - 1]
  if (aggregate === 'product') return scores.reduce((product, score) => product * score, 1)
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}
