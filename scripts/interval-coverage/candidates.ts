import { average, quantile, meanInterval, studentQuantile } from '../../src/statistics/statistics.ts'
import type { Random } from '../../src/engine/random/index.ts'

export type Interval = readonly [low: number, high: number]

const resamples = 1000

/** The compared 95% intervals of the mean. The last one is `meanInterval`. */
export const candidates = ['percentile', 'BCa', 'bootstrap-t', 'Student', 'Student and Hall'] as const

export type Candidate = (typeof candidates)[number]

/** All of them for the same values. The bootstraps share their resamples. */
export function candidateIntervals(values: readonly number[], random: Random): Record<Candidate, Interval> {
  const n = values.length
  const centre = average(values)
  const apart = Float64Array.from(values, (value) => value - centre)
  const error = standardError(
    0,
    apart.reduce((sum, value) => sum + value * value, 0),
    n,
  )
  const [means, ts] = [new Float64Array(resamples), new Float64Array(resamples)]
  const index = fastIndex(random, n)
  for (let i = 0; i < resamples; i++) {
    let [sum, squares] = [0, 0]
    for (let j = 0; j < n; j++) {
      const value = apart[index()]
      sum += value
      squares += value * value
    }
    means[i] = centre + sum / n
    ts[i] = sum === 0 ? 0 : sum / n / standardError(sum, squares, n)
  }
  means.sort()
  ts.sort()
  const half = studentQuantile(0.975, n - 1) * error
  const { low, high } = meanInterval(values)
  return {
    percentile: [quantile(means, 0.025), quantile(means, 0.975)],
    BCa: corrected(values, means, centre),
    'bootstrap-t': [away(centre, at(ts, 0.975), error), away(centre, at(ts, 0.025), error)],
    Student: [centre - half, centre + half],
    'Student and Hall': [low ?? -Infinity, high ?? Infinity],
  }
}

/** Without variance the width is 0, even for an infinite quantile. */
const away = (centre: number, t: number, error: number): number => (error === 0 ? centre : centre - t * error)

/** Does not interpolate between neighbours, of which one may be infinite. */
const at = (sorted: Float64Array, q: number): number => sorted[Math.round(q * (sorted.length - 1))]

/** Efron (1987): bias-corrected and accelerated. */
function corrected(values: readonly number[], means: Float64Array, centre: number): Interval {
  let [below, equal, cubes, squares] = [0, 0, 0, 0]
  for (const value of means) {
    if (value < centre) below++
    else if (value === centre) equal++
  }
  for (const value of values) {
    cubes += (value - centre) ** 3
    squares += (value - centre) ** 2
  }
  if (squares === 0) return [centre, centre]
  const bias = normalQuantile((below + equal / 2) / means.length)
  const acceleration = cubes / (6 * squares ** 1.5)
  const bound = (z: number): number => {
    const shifted = bias + (bias + z) / (1 - acceleration * (bias + z))
    return quantile(means, Math.min(1, Math.max(0, normalProbability(shifted))))
  }
  return [bound(-1.959964), bound(1.959964)]
}

/** Standard error of the mean, from the sums of deviations and of their squares. Treats rounding errors as 0. */
function standardError(sum: number, squares: number, n: number): number {
  const spread = squares - (sum * sum) / n
  return spread <= 1e-12 * squares ? 0 : Math.sqrt(spread / (n - 1) / n)
}

/** Indices below `n` by Marsaglia's xorshift, since hundreds of millions are drawn. */
function fastIndex(random: Random, n: number): () => number {
  let state = 1 + random.int(2 ** 31)
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.floor(((state >>> 0) / 2 ** 32) * n)
  }
}

/** From this many degrees of freedom on, Student's t equals the normal distribution to six digits. */
const normalQuantile = (p: number): number =>
  studentQuantile(Math.min(1 - 1 / resamples, Math.max(1 / resamples, p)), 1e7)

/** Abramowitz & Stegun 26.2.17. */
function normalProbability(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const tail =
    0.3989422804 *
    Math.exp((-z * z) / 2) *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return z > 0 ? 1 - tail : tail
}
