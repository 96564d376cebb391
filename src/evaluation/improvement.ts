import { createRandom } from '../random/index.ts'
import type { BootstrapSettings } from './bootstrap.ts'
import type { Estimate } from './interval.ts'
import { quantile } from './statistics.ts'

/**
 * Probability that a run of `a` scores higher than one of `b`, ties counting half (Mann & Whitney 1947), with a
 * percentile bootstrap interval over the runs of both.
 *
 * Source: Agarwal et al. (arXiv 2108.13264), "probability of improvement".
 */
export function probabilityOfImprovement(
  a: readonly number[],
  b: readonly number[],
  { resamples = 2_000, level = 0.95, seed = 0 }: BootstrapSettings = {},
): Estimate {
  const random = createRandom(seed, 'improvement')
  const redraw = (values: readonly number[]): number[] => values.map(() => values[random.int(values.length)])
  const draws = Float64Array.from({ length: resamples }, () => wins(redraw(a), redraw(b))).sort()
  const tail = (1 - level) / 2
  return {
    mean: wins(a, b),
    low: quantile(draws, tail),
    high: quantile(draws, 1 - tail),
    n: a.length + b.length,
  }
}

function wins(a: readonly number[], b: readonly number[]): number {
  let sum = 0
  for (const x of a) for (const y of b) sum += x > y ? 1 : x === y ? 0.5 : 0
  return sum / (a.length * b.length)
}
