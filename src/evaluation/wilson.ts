import type { Estimate } from './interval.ts'

/**
 * Wilson's score interval of a share, without continuity correction: sound also near 0 and 1 and for few trials.
 * Without any trial nothing is known: the interval is [0, 1] and the mean 0.
 *
 * Source: Wilson (1927); equal to scipy's `binomtest(k, n).proportion_ci(method='wilson')`.
 *
 * @param z quantile of the normal distribution; the default gives 95%.
 */
export function wilsonInterval(successes: number, trials: number, z = 1.959963984540054): Estimate {
  if (trials === 0) return { mean: 0, low: 0, high: 1, n: 0 }
  const share = successes / trials
  const centre = share + (z * z) / (2 * trials)
  const spread = z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials))
  const scale = 1 / (1 + (z * z) / trials)
  return {
    mean: share,
    low: successes === 0 ? 0 : (centre - spread) * scale,
    high: successes === trials ? 1 : (centre + spread) * scale,
    n: trials,
  }
}
