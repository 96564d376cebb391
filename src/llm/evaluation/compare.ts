import type { Episode } from '../episode/types.ts'
import { type IntervalSettings, type MeanEstimate, meanInterval, tooFew } from '../../statistics/intervals.ts'
import { mean } from '../../statistics/statistics.ts'
import { successByTask } from './summarise.ts'

/**
 * How much more often `a` succeeds than `b`: the mean over tasks of the difference, with an interval over tasks. Several
 * attempts at a task are averaged first, since they are not independent of each other. `n` is the number of tasks with a
 * judged episode on both sides; others are left out. Fewer than five tasks have no interval.
 *
 * The interval is that of `meanInterval` with two more tasks, one that `a` and one that `b` succeeds at in one attempt more:
 * without them, few tasks on which the two agree would give an interval without width.
 *
 * Source: Bonett & Price, Adjusted Wald confidence interval for a difference of binomial proportions based on paired data,
 * J. Educational and Behavioral Statistics 37 (2012), which this is for one attempt a task, but for Student's quantile.
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
