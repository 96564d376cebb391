import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import type { RewardFunction } from './types.ts'

/** One thing that is looked for in an episode. */
export interface Criterion {
  /** Points, not 0. Negative for what should not be there. */
  weight: number
  /** How far it is met, 0 to 1 (or yes and no); `null` = cannot be judged. */
  meets: (episode: Episode) => boolean | number | null
}

/**
 * A rubric: weighted criteria by name. The value is the points that were got over those that can be got, held within 0 and 1; its
 * parts are the share of each criterion. One that cannot be judged leaves the whole unjudged.
 *
 * Sources: HealthBench (arXiv 2505.08775), section 3; Rubrics as Rewards (arXiv 2507.17746), eq. 1.
 *
 * @throws AgogeError where no criterion has a weight above 0, or one meets something outside of 0 to 1.
 * @example rubric({ right: { weight: 5, meets: (e) => e.success }, rambles: { weight: -1, meets: (e) => e.usage.sampledTokens > 200 } })
 */
export function rubric(criteria: Record<string, Criterion>): RewardFunction {
  const entries = Object.entries(criteria)
  const most = entries.reduce((sum, [, { weight }]) => sum + Math.max(0, weight), 0)
  if (!(most > 0) || entries.some(([, { weight }]) => weight === 0 || !Number.isFinite(weight)))
    throw new AgogeError('A rubric needs criteria that can give points', {
      code: 'bad-reward',
      given: Object.fromEntries(entries.map(([name, { weight }]) => [name, weight])),
      expected: 'finite weights, none of them 0, at least one above',
    })
  return (episode) => {
    const parts: Record<string, number> = {}
    let points = 0
    for (const [name, { weight, meets }] of entries) {
      const met = meets(episode)
      if (met === null) return null
      const share = Number(met)
      if (!(share >= 0 && share <= 1))
        throw new AgogeError(`The criterion ${name} was met by ${share}`, {
          code: 'bad-reward',
          given: share,
          expected: 'a number from 0 to 1, true, false, or null where it cannot be judged',
        })
      parts[name] = (weight * share) / most
      points += parts[name]
    }
    return { value: Math.min(1, Math.max(0, points)), parts }
  }
}
