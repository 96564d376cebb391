import { AgogeError } from '../../../error.ts'
import { combinationsRatio } from '../advantages/combinations.ts'
import type { GroupRewards } from '../advantages/group.ts'

/** The member with the highest score, the first of equals; `null` where all are masked. */
export function bestOf(scores: GroupRewards): number | null {
  let best: number | null = null
  for (const [i, score] of scores.entries())
    if (score !== null && (best === null || score > (scores[best] ?? -Infinity))) best = i
  return best
}

/**
 * What choosing the best of n by score would bring, estimated without bias from N >= n samples: the mean of the chosen
 * one's outcome over all choices of n, `sum over ranks i of C(i - 1, n - 1) / C(N, n) * outcome_i`. Samples of equal
 * score share their places, as if ties were broken by lot.
 *
 * Sources: WebGPT (arXiv 2112.09332); Gao et al. (arXiv 2210.10760). Without outcomes it is the expected
 * best score; with scores of 0 and 1 that is pass@n of Chen et al. (arXiv 2107.03374), `1 - C(N - c, n) / C(N, n)`.
 *
 * @param outcomes what is measured of each sample where it is not the score itself (a gold reward, say).
 * @throws AgogeError where n is not an integer from 1 to N.
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
    // The best of a choice has this score: all choices below `to` that are not all below `from`.
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
