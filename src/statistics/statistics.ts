import { createRandom } from '../engine/random/index.ts'
import { AgogeError } from '../error.ts'

/** The arithmetic mean, or 0 for no values. */
export function average(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]
  return values.length === 0 ? 0 : sum / values.length
}

/** Quantile `q` in [0, 1] of values in ascending order, with linear interpolation as NumPy's default. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (at - below) * (sorted[above] - sorted[below])
}

/** Interquartile mean: cuts a quarter of the values (rounded down) at each end. Equals `scipy.stats.trim_mean(x, 0.25)`. */
export function interquartileMean(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const cut = Math.floor(sorted.length / 4)
  return average(sorted.slice(cut, sorted.length - cut))
}

/**
 * Spearman's rank correlation of paired values, in [-1, 1]. Ties share their mean rank. Returns 0 if all values
 * of one side are equal. Equals `scipy.stats.spearmanr` otherwise.
 */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)]
  const [meanX, meanY] = [average(x), average(y)]
  let [both, squaresX, squaresY] = [0, 0, 0]
  for (let i = 0; i < x.length; i++) {
    both += (x[i] - meanX) * (y[i] - meanY)
    squaresX += (x[i] - meanX) ** 2
    squaresY += (y[i] - meanY) ** 2
  }
  return squaresX === 0 || squaresY === 0 ? 0 : both / Math.sqrt(squaresX * squaresY)
}

/** The ranks of values, 1 for the smallest. */
function ranks(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length
    const equal = values.filter((other) => other === value).length
    return below + (equal + 1) / 2
  })
}

/** A mean of `n` values with its interval. Default level: 95%. */
export interface Estimate {
  mean: number
  low: number
  high: number
  n: number
}

/** A mean of too few values for a reliable interval. */
export interface NoInterval {
  mean: number
  low: null
  high: null
  n: number
  /** Why there is no interval: `no interval: n = 3, fewer than 5`. */
  noInterval: string
}

/** A mean with its interval, or without one if there are too few values. Then `low` and `high` are null. */
export type MeanEstimate = Estimate | NoInterval

/** Minimum number of values for an interval. With fewer, skewed data make any interval too narrow. */
const fewest = 5

/** The estimate without an interval if there are too few values, otherwise null. */
export function tooFew(mean: number, n: number): NoInterval | null {
  if (n >= fewest) return null
  return { mean, low: null, high: null, n, noInterval: `no interval: n = ${n}, fewer than ${fewest}` }
}

/** `LOW to HIGH`, formatted by `show`, or the reason why there is no interval. */
export function intervalText(estimate: MeanEstimate, show: (value: number) => string): string {
  return estimate.low === null ? estimate.noInterval : `${show(estimate.low)} to ${show(estimate.high)}`
}

/**
 * Quantile of Student's t distribution: a sample is below it with probability `p`. `df`, the degrees of
 * freedom, may be fractional. Accurate to nine digits for `p` in [0.5, 0.9999] and `df` of at least 1.
 */
export function studentQuantile(p: number, df: number): number {
  if (p < 0.5) return -studentQuantile(1 - p, df)
  let [low, high] = [0, 1]
  while (studentTail(high, df) > 1 - p) high *= 2
  for (let i = 0; i < 100 && high - low > 1e-11 * high; i++) {
    const middle = (low + high) / 2
    if (studentTail(middle, df) > 1 - p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Probability that a sample of Student's t distribution exceeds `t`, for `t` >= 0. */
export function studentTail(t: number, df: number): number {
  return incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2
}

/** The regularised incomplete beta function, by Lentz's continued fraction (Press et al., Numerical Recipes, section 6.4). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  // The fraction converges fast only on this side.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x))
  let c = 1
  let d = 1 / (1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / (1 + even * d)
    c = 1 + even / c
    fraction *= c * d
    d = 1 / (1 + odd * d)
    c = 1 + odd / c
    fraction *= c * d
    if (Math.abs(c * d - 1) < 1e-14) break
  }
  return (front * fraction) / a
}

/** Stirling's series, after the recurrence has raised the argument above 10. */
function logGamma(x: number): number {
  let shift = 0
  for (; x < 10; x++) shift += Math.log(x)
  const inverse = 1 / (x * x)
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - shift
}

/** Settings of the intervals: the confidence level. */
export interface IntervalSettings {
  /** Default: 0.95. */
  level?: number
}

/**
 * The mean of independent values with its confidence interval. Each side is the wider one of Student's interval
 * and Hall's correction for skewness. With fewer than five values, `low` and `high` are null and `noInterval`
 * gives the reason. Equal values have an interval of width 0. docs/results/coverage.md compares its measured
 * coverage with that of bootstraps.
 *
 * Source: Hall, On the removal of skewness by transformation, J. R. Statist. Soc. B 54 (1992), g1 and its
 * inverse.
 *
 * @example
 * meanInterval([1, 2, 3, 4, 5]) // { mean: 3, low: 1.04, high: 4.96, n: 5 }
 */
export function meanInterval(
  values: readonly number[],
  { level = 0.95 }: IntervalSettings = {},
): MeanEstimate {
  const n = values.length
  const centre = average(values)
  return tooFew(centre, n) ?? studentAndHall(values, centre, level)
}

function studentAndHall(values: readonly number[], centre: number, level: number): Estimate {
  const n = values.length
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  if (squares === 0) return { mean: centre, low: centre, high: centre, n }
  const deviation = Math.sqrt(squares / (n - 1))
  const skewness = values.reduce((sum, value) => sum + ((value - centre) / deviation) ** 3, 0) / n
  const student = studentQuantile((1 + level) / 2, n - 1) / Math.sqrt(n)
  const hall = (y: number): number =>
    Math.abs(skewness) < 1e-6 ? y : (3 / skewness) * (Math.cbrt(1 + skewness * (y - skewness / (6 * n))) - 1)
  return {
    mean: centre,
    low: centre - deviation * Math.max(student, hall(student)),
    high: centre + deviation * Math.max(student, -hall(-student)),
    n,
  }
}

/** The mean with Student's interval alone. With fewer than two values, or equal ones, its width is 0. */
export function studentInterval(
  values: readonly number[],
  { level = 0.95 }: IntervalSettings = {},
): Omit<Estimate, 'n'> {
  const n = values.length
  const centre = average(values)
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0)
  if (n < 2 || squares === 0) return { mean: centre, low: centre, high: centre }
  const half = studentQuantile((1 + level) / 2, n - 1) * Math.sqrt(squares / (n - 1) / n)
  return { mean: centre, low: centre - half, high: centre + half }
}

/**
 * The mean difference `a - b` of paired values with its interval. Index i of both arrays belongs to the same
 * task, so the difficulty of the tasks cancels. With fewer than five pairs there is no interval.
 *
 * @throws AgogeError if the lengths differ
 */
export function pairedDifference(
  a: readonly number[],
  b: readonly number[],
  settings: IntervalSettings = {},
): MeanEstimate {
  if (a.length !== b.length)
    throw new AgogeError('A paired comparison needs the same tasks on both sides', {
      code: 'unpaired',
      given: `${a.length} and ${b.length} values`,
      expected: 'two lists of the same length in the same order',
    })
  return meanInterval(
    a.map((value, at) => value - b[at]),
    settings,
  )
}

/**
 * Wilson's score interval of a proportion, without continuity correction. It is also accurate near 0 and 1 and
 * for few trials. Without trials, the interval is [0, 1] and the mean 0.
 *
 * Source: Wilson (1927). Equals scipy's `binomtest(k, n).proportion_ci(method='wilson')`.
 *
 * @param z quantile of the normal distribution. Default: that of 95%.
 */
export function wilsonInterval(successes: number, trials: number, z = 1.959963984540054): Estimate {
  if (trials === 0) return { mean: 0, low: 0, high: 1, n: 0 }
  return { ...wilsonBounds(successes / trials, trials, z), n: trials }
}

/**
 * Wilson's 95% interval of a success rate for clustered trials, such as several attempts at one task, which are
 * not independent. It computes an effective number of trials from the spread between the groups, at least one
 * for each group and at most all. Because this spread is estimated, a quantile of Student's t replaces the
 * normal one. With one trial in each group it equals `wilsonInterval`. `n` is the number of trials.
 *
 * Sources: Kish, Survey Sampling (1965), the design effect; Dean & Pagano, J. Survey Statistics and Methodology
 * 3 (2015).
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
  // A single group does not show the spread between groups.
  const counts = k < 2 || squares === 0 ? k : (share * (1 - share) * trials ** 2 * (k - 1)) / (k * squares)
  const effective = Math.min(trials, Math.max(k, counts))
  return { ...wilsonBounds(share, effective, studentQuantile(0.975, Math.max(1, k - 1))), n: trials }
}

/** `trials` may be fractional. */
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

/** Settings of `stratifiedInterquartileMean`. The same seed gives the same interval. Default `seed`: 0. */
export interface BootstrapSettings {
  /** Default: 10 000. */
  resamples?: number
  /** Default: 0.95. */
  level?: number
  seed?: number | string
}

/**
 * Interquartile mean over all runs and tasks with a stratified percentile bootstrap interval. The bootstrap
 * resamples runs within each task, but not tasks. `scores[task][run]`. There is no interval if a task has fewer
 * than five runs.
 *
 * Source: Agarwal et al., Deep RL at the edge of the statistical precipice (arXiv 2108.13264); rliable.
 */
export function stratifiedInterquartileMean(
  scores: readonly (readonly number[])[],
  { resamples = 10_000, level = 0.95, seed = 0 }: BootstrapSettings = {},
): MeanEstimate {
  const all = scores.flat()
  const centre = interquartileMean(all)
  const none = tooFew(centre, Math.min(all.length, ...scores.map((runs) => runs.length)))
  if (none !== null) return none
  const random = createRandom(seed, 'stratified-bootstrap')
  const draw = (): number =>
    interquartileMean(scores.flatMap((runs) => runs.map(() => runs[random.int(runs.length)])))
  const draws = Float64Array.from({ length: resamples }, draw).sort()
  const tail = (1 - level) / 2
  return { mean: centre, low: quantile(draws, tail), high: quantile(draws, 1 - tail), n: all.length }
}
