import { AgogeError } from '../../../error.ts'
import { combinationsRatio } from '../advantages/best-of-k.ts'
import type { GroupRewards } from '../advantages/group.ts'

/** Index of the member with the highest score, the first among equals; `null` if all are masked. */
export function bestOf(scores: GroupRewards): number | null {
  let best: number | null = null
  for (const [i, score] of scores.entries())
    if (score !== null && (best === null || score > (scores[best] ?? -Infinity))) best = i
  return best
}

/**
 * Unbiased estimate of the outcome of best-of-n selection by score, from N >= n samples: the mean outcome of the
 * selected sample over all choices of n, `sum over ranks i of C(i - 1, n - 1) / C(N, n) * outcome_i`. Samples of equal
 * score share their ranks, as if ties were broken at random.
 *
 * Sources: WebGPT (arXiv 2112.09332); Gao et al. (arXiv 2210.10760). Without outcomes it is the expected best score;
 * with scores of 0 and 1 that is pass@n of Chen et al. (arXiv 2107.03374), `1 - C(N - c, n) / C(N, n)`.
 *
 * @param outcomes outcome of each sample, such as a gold reward. Default: the scores.
 * @throws AgogeError if n is not an integer from 1 to N.
 */
export function expectedBestOf(
  n: number,
  scores: ArrayLike<number>,
  outcomes: ArrayLike<number> = scores,
): number {
  const total = scores.length
  if (!Number.isInteger(n) || n < 1 || n > total)
    throw new AgogeError('The best of n cannot be estimated from fewer than n samples', {
      code: 'bad-config',
      given: { n, samples: total },
      expected: 'an integer n from 1 to the number of samples',
    })
  const order = Array.from({ length: total }, (_, i) => i).sort((a, b) => scores[a] - scores[b])
  let expected = 0
  for (let from = 0, to = 0; from < total; from = to) {
    let sum = 0
    do sum += outcomes[order[to++]]
    while (to < total && scores[order[to]] === scores[order[from]])
    // Choices whose best sample has this score: all choices below `to`, minus those below `from`.
    const share = combinationsRatio(to, n, total, n) - combinationsRatio(from, n, total, n)
    expected += (share * sum) / (to - from)
  }
  return expected
}

/**
 * Upper bound in nats of KL(best of n || policy): `log n - (n - 1) / n`; exact for answers that never repeat.
 *
 * Source: Stiennon et al. (arXiv 2009.01325); that it is a bound: Beirami et al. (arXiv 2401.01879).
 */
export function bestOfKl(n: number): number {
  return Math.log(n) - (n - 1) / n
}

/** Members of a pair, as indices into the group. */
export interface Pair {
  chosen: number
  rejected: number
}

/**
 * Preference pairs among the policy's own answers to one prompt. `extremes` (default): the best against the worst.
 * `all`: every two that differ. Pairs whose rewards differ by `margin` or less are left out. Masked members (`null`)
 * are ignored. The earlier of equals is taken.
 *
 * Source: online DPO (arXiv 2402.04792). TRL's trainer draws two answers per prompt and takes the first of equals as
 * the chosen one, which trains on noise.
 */
export function onlinePairs(
  rewards: GroupRewards,
  settings: { pairing?: 'extremes' | 'all'; margin?: number } = {},
): Pair[] {
  const { pairing = 'extremes', margin = 0 } = settings
  const members = rewards.flatMap((reward, at) => (reward === null ? [] : [{ reward, at }]))
  const ordered = members.sort((a, b) => b.reward - a.reward)
  if (pairing === 'all')
    return ordered.flatMap((high, i) =>
      ordered
        .slice(i + 1)
        .filter((low) => high.reward - low.reward > margin)
        .map((low) => ({ chosen: high.at, rejected: low.at })),
    )
  if (ordered.length === 0) return []
  const high = ordered[0]
  const least = ordered[ordered.length - 1].reward
  const low = ordered.find(({ reward }) => reward === least) ?? high
  return high.reward - low.reward > margin ? [{ chosen: high.at, rejected: low.at }] : []
}
