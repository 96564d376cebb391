import {
  type IntervalSettings,
  type MeanEstimate,
  meanInterval,
  studentQuantile,
  tooFew,
  wilsonBounds,
} from '../../statistics/intervals.ts'
import { mean } from '../../statistics/statistics.ts'
import type { Episode } from '../episode/types.ts'
import { successByTask } from './summarise.ts'

/**
 * The difference in success rate between `a` and `b`: the mean over tasks, with an interval over tasks. Averages several
 * attempts at a task first, since they are not independent. `n` is the number of tasks with a judged episode on both sides;
 * other tasks are left out. Fewer than five tasks have no interval.
 *
 * The interval is that of `meanInterval` after adding two tasks: one where `a` succeeds in one more attempt than `b`, and one
 * where `b` does. Without them, an interval over few tasks with equal results would have zero width.
 *
 * Source: Bonett & Price, Adjusted Wald confidence interval for a difference of binomial proportions based on paired data, J.
 * Educational and Behavioral Statistics 37 (2012). For one attempt per task this is their interval, with Student's quantile.
 */
export function compareSuccess(
  a: readonly Episode[],
  b: readonly Episode[],
  settings: IntervalSettings = {},
): MeanEstimate {
  const others = successByTask(b)
  const pairs = [...successByTask(a)].flatMap(([task, ofA]) => {
    const ofB = others.get(task)
    return ofB === undefined
      ? []
      : [{ gain: share(ofA) - share(ofB), attempts: (ofA.trials + ofB.trials) / 2 }]
  })
  const gains = pairs.map(({ gain }) => gain)
  const [n, centre] = [gains.length, mean(gains)]
  const few = tooFew(centre, n)
  if (few !== null) return few
  const one = 1 / mean(pairs.map(({ attempts }) => attempts))
  const { low, high } = meanInterval([...gains, one, -one], settings)
  return { mean: centre, low: Math.max(-1, low ?? -1), high: Math.min(1, high ?? 1), n }
}

const share = ({ successes, trials }: { successes: number; trials: number }): number => successes / trials

/**
 * Probability that a run of `a` scores higher than a run of `b`; ties count half (Mann & Whitney 1947). The interval is
 * Wilson's. Its number of trials follows from Brunner and Munzel's variance and is at least the smaller number of runs; the
 * quantile is Student's. So the interval has a width even if every run of `a` wins. No interval if a side has fewer than five
 * runs. `n` is the number of runs of both sides.
 *
 * Sources: Agarwal et al. (arXiv 2108.13264), "probability of improvement"; Brunner & Munzel, Biometrical Journal 42 (2000),
 * variance and degrees of freedom.
 */
export function probabilityOfImprovement(
  a: readonly number[],
  b: readonly number[],
  { level = 0.95 }: IntervalSettings = {},
): MeanEstimate {
  const ofA = a.map((x) => mean(b.map((y) => win(x, y))))
  const ofB = b.map((y) => mean(a.map((x) => win(x, y))))
  const share = mean(ofA)
  const least = Math.min(a.length, b.length)
  const n = a.length + b.length
  const few = tooFew(share, least)
  if (few !== null) return few
  const [varianceA, varianceB] = [varianceOfMean(ofA), varianceOfMean(ofB)]
  const variance = varianceA + varianceB
  const trials = variance === 0 ? least : (share * (1 - share)) / variance
  const df =
    variance === 0
      ? least - 1
      : variance ** 2 / (varianceA ** 2 / (a.length - 1) + varianceB ** 2 / (b.length - 1))
  const effective = Math.min(a.length * b.length, Math.max(least, trials))
  return { ...wilsonBounds(share, effective, studentQuantile((1 + level) / 2, df)), n }
}

const win = (x: number, y: number): number => (x > y ? 1 : x === y ? 0.5 : 0)

function varianceOfMean(values: readonly number[]): number {
  const centre = mean(values)
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  return squares / (values.length - 1) / values.length
}
