import { bestOf, expectedBestOf } from '../algorithm/preference/choice.ts'
import type { Scorer } from './sample-answers.ts'

/** Of each group the member of the highest score (`null` where none was judged), and all scores. */
export interface BestOfGroups<T> {
  chosen: (T | null)[]
  scores: (number | null)[][]
}

/**
 * Best of n: of each group (answers of `sampleAnswers`, episodes of `rolloutGroups`) the member that a scorer likes best. A
 * reward scores episodes as `async (episodes) => (await scoreGroups(reward, [episodes]))[0]`.
 *
 * Source: WebGPT (arXiv 2112.09332); what it costs in divergence is `bestOfKl(n)`.
 */
export async function bestOfGroups<T>(
  groups: readonly (readonly T[])[],
  scorer: Scorer<T>,
): Promise<BestOfGroups<T>> {
  const flat = await scorer(groups.flat())
  let at = 0
  const scores = groups.map((group) => flat.slice(at, (at += group.length)))
  const chosen = groups.map((group, g) => {
    const best = bestOf(scores[g])
    return best === null ? null : group[best]
  })
  return { chosen, scores }
}

/**
 * What choosing among 1, 2, ... N would bring, as a mean over groups of N: index n - 1 has the expected outcome of the best of n by
 * score (`expectedBestOf`). Where outcomes are what is really wanted and scores those of a learnt reward, the curve bends where
 * the reward is over-optimised (Gao et al., arXiv 2210.10760).
 *
 * @param outcomes of every member; without them the scores themselves.
 */
export function bestOfCurve(
  scores: readonly (readonly number[])[],
  outcomes: readonly (readonly number[])[] = scores,
): number[] {
  const most = Math.min(...scores.map((group) => group.length))
  return Array.from({ length: most }, (_, i) => {
    const each = scores.map((group, g) => expectedBestOf(i + 1, group, outcomes[g]))
    return each.reduce((sum, value) => sum + value, 0) / each.length
  })
}
