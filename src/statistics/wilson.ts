import type { Estimate } from './interval.ts'
import { studentQuantile } from './student.ts'

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
  return { ...wilsonBounds(successes / trials, trials, z), n: trials }
}

/**
 * Wilson's 95% interval of the share of successes where trials come in groups (several attempts at one task), which are not
 * independent of each other. The trials count for as many as the spread between the groups says, at least one a group and
 * at most all; the normal quantile becomes Student's, since that spread is estimated. With one trial a group it is
 * `wilsonInterval`. `n` is the number of trials.
 *
 * Sources: Kish, Survey Sampling (1965), the design effect; Dean & Pagano, J. Survey Statistics and Methodology 3 (2015).
 */
export function groupedWilsonInterval(groups: readonly { successes: number; trials: number }[]): Estimate {
  const sum = (of: (group: { successes: number; trials: number }) => number): number =>
    groups.reduce((total, group) => total + of(group), 0)
  const trials = sum((group) => group.trials)
  const successes = sum((group) => group.successes)
  const k = groups.length
  if (k === trials) return wilsonInterval(successes, trials)
  const share = successes / trials
  const squares = sum((group) => (group.successes - share * group.trials) ** 2)
  // One group says nothing of the spread between groups.
  const counts = k < 2 || squares === 0 ? k : (share * (1 - share) * trials ** 2 * (k - 1)) / (k * squares)
  const effective = Math.min(trials, Math.max(k, counts))
  return { ...wilsonBounds(share, effective, studentQuantile(0.975, Math.max(1, k - 1))), n: trials }
}

/** `trials` need not be whole. */
export function wilsonBounds(share: number, trials: number, z: number): Omit<Estimate, 'n'> {
  const centre = share + (z * z) / (2 * trials)
  const spread = z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials))
  const scale = 1 / (1 + (z * z) / trials)
  return {
    mean: share,
    low: share === 0 ? 0 : (centre - spread) * scale,
    high: share === 1 ? 1 : (centre + spread) * scale,
  }
}
