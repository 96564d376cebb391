import { average, meanInterval, type MeanEstimate, studentQuantile } from '../../statistics/statistics.ts'

/** Successes of one model at one task. */
export interface TaskOutcome {
  task: string
  successes: number
  /** Judged trials, at least 1. */
  trials: number
}

/**
 * `pass@k` and `pass^k` over tasks, for every k up to the smallest number of trials.
 *
 * `atLeastOne[k - 1]` is the probability that at least one of k trials succeeds, `all[k - 1]` that all of them do. Both are
 * unbiased: averaged over all choices of k among the trials of a task, then over tasks.
 *
 * Sources: pass@k: Chen et al., Evaluating Large Language Models Trained on Code (arXiv 2107.03374), equation 1; pass^k: Yao et al.,
 * tau-bench (arXiv 2406.12045), section 4.
 *
 * @example passRates([{ task: 'a', successes: 1, trials: 2 }]) // { atLeastOne: [0.5, 1], all: [0.5, 0] }
 */
export function passRates(outcomes: readonly TaskOutcome[]): { atLeastOne: number[]; all: number[] } {
  const most = outcomes.reduce((least, { trials }) => Math.min(least, trials), Infinity)
  const ks = Number.isFinite(most) ? Array.from({ length: most }, (_, i) => i + 1) : []
  return {
    atLeastOne: ks.map((k) =>
      average(outcomes.map(({ successes, trials }) => 1 - shareOfChoices(trials - successes, trials, k))),
    ),
    all: ks.map((k) =>
      average(outcomes.map(({ successes, trials }) => shareOfChoices(successes, trials, k))),
    ),
  }
}

/** C(some, k) / C(all, k): the share of the choices of k that lie in `some`. */
function shareOfChoices(some: number, all: number, k: number): number {
  let share = 1
  for (let i = 0; i < k; i += 1) share *= Math.max(0, some - i) / (all - i)
  return share
}

/**
 * How far two evaluations of the same model on the same tasks differ by chance: in 19 of 20 pairs by at most this. Null if no
 * task has two trials, because one trial does not show how much a model varies.
 *
 * From the variance within each task, p (1 - p) with Bessel's correction; the variance between tasks cancels.
 */
export function noiseFloor(outcomes: readonly TaskOutcome[]): number | null {
  const repeated = outcomes.filter(({ trials }) => trials >= 2)
  if (repeated.length === 0) return null
  const variance = average(
    repeated.map(({ successes, trials }) => {
      const share = successes / trials
      return (share * (1 - share)) / (trials - 1)
    }),
  )
  return normal975 * Math.sqrt((2 * variance) / outcomes.length)
}

/** A paired comparison with what its size could show. */
export interface PowerOfComparison {
  /**
   * The smallest true difference that this number of tasks and trials finds in four of five evaluations, with an interval clear of
   * zero. Null with fewer than five tasks.
   */
  smallest: number | null
  /** Further tasks that would show a true difference as large as the one seen, as often. 0 if it is shown. Null if there is none. */
  tasksNeeded: number | null
}

/**
 * The power of a paired comparison, from the gains of the tasks: the success rate of one model at a task less that of the other.
 *
 * Source: the sample size of a paired t-test, (z_0.975 + z_0.8)^2 s^2 / d^2; for the few tasks of an evaluation, quantiles of Student's t.
 */
export function powerOfComparison(gains: readonly number[], interval: MeanEstimate): PowerOfComparison {
  const n = gains.length
  if (n < 5 || interval.low === null) return { smallest: null, tasksNeeded: null }
  const quantiles = studentQuantile(0.975, n - 1) + studentQuantile(0.8, n - 1)
  // The interval has a width even if all gains are equal.
  const deviation = ((interval.high - interval.low) / 2 / studentQuantile(0.975, n - 1)) * Math.sqrt(n)
  const smallest = (quantiles * deviation) / Math.sqrt(n)
  const seen = Math.abs(interval.mean)
  const isShown = interval.low > 0 || interval.high < 0
  if (isShown) return { smallest, tasksNeeded: 0 }
  if (seen === 0) return { smallest, tasksNeeded: null }
  const wanted = ((normal975 + normal80) * deviation) / seen
  return { smallest, tasksNeeded: Math.max(1, Math.ceil(wanted ** 2) - n) }
}

/** Mean and 95% interval of a number per trial, such as its cost, over tasks: the trials of a task are averaged first. */
export function meanOverTasks(values: ReadonlyMap<string, readonly number[]>): MeanEstimate {
  return meanInterval([...values.values()].map(average))
}

/**
 * The p-value of Fisher's exact test, two-sided: whether two shares differ by more than chance.
 *
 * Source: Fisher (1922); two-sided as in R's `fisher.test`: the sum over the tables that are no more likely.
 */
export function fisherExact(a: { hits: number; of: number }, b: { hits: number; of: number }): number {
  const hits = a.hits + b.hits
  const all = a.of + b.of
  const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k)
  const logChance = (k: number): number =>
    logChoose(a.of, k) + logChoose(b.of, hits - k) - logChoose(all, hits)
  const seen = logChance(a.hits)
  let sum = 0
  for (let k = Math.max(0, hits - b.of); k <= Math.min(hits, a.of); k += 1) {
    const chance = logChance(k)
    if (chance <= seen + 1e-7) sum += Math.exp(chance)
  }
  return Math.min(1, sum)
}

function logFactorial(n: number): number {
  let sum = 0
  for (let i = 2; i <= n; i += 1) sum += Math.log(i)
  return sum
}

const normal975 = 1.959963984540054
const normal80 = 0.8416212335729143
