import { average, studentQuantile, studentTail } from 'agoge/statistics'

/** What two arms' scores say about the difference of their means. */
export interface Evidence {
  mean: number
  /** Standard error of the mean. */
  error: number
  /** Degrees of freedom, of Welch where the runs are not paired. */
  df: number
  /** Skewness of the mean. */
  skewness: number
  /** Score of the one less that of the other, in the order of the runs. */
  differences: readonly number[]
}

/** Differences of runs that share a seed. Both lists are in the order of the seeds. */
export function pairedEvidence(a: readonly number[], b: readonly number[]): Evidence {
  const differences = a.map((score, at) => score - b[at])
  const { mean, variance, third } = moments(differences)
  const n = differences.length
  return {
    ...withoutRounding({ mean, error: Math.sqrt(variance / n), differences }),
    df: n - 1,
    skewness: variance === 0 ? 0 : third / variance ** 1.5 / Math.sqrt(n),
    differences,
  }
}

/** Runs that share nothing, by Welch. Both lists have the same length. */
export function unpairedEvidence(a: readonly number[], b: readonly number[]): Evidence {
  const differences = a.map((score, at) => score - b[at])
  const [x, y] = [moments(a), moments(b)]
  const [ofX, ofY] = [x.variance / a.length, y.variance / b.length]
  const variance = ofX + ofY
  return {
    ...withoutRounding({ mean: x.mean - y.mean, error: Math.sqrt(variance), differences }),
    df:
      variance === 0
        ? a.length + b.length - 2
        : variance ** 2 / (ofX ** 2 / (a.length - 1) + ofY ** 2 / (b.length - 1)),
    skewness: variance === 0 ? 0 : (x.third / a.length ** 2 - y.third / b.length ** 2) / variance ** 1.5,
    differences,
  }
}

function moments(values: readonly number[]): { mean: number; variance: number; third: number } {
  const n = values.length
  const mean = average(values)
  let [squares, cubes] = [0, 0]
  for (const value of values) {
    squares += (value - mean) ** 2
    cubes += (value - mean) ** 3
  }
  return { mean, variance: n < 2 ? 0 : squares / (n - 1), third: cubes / n }
}

/** A spread that is only rounding counts as none. */
function withoutRounding({
  mean,
  error,
  differences,
}: Pick<Evidence, 'mean' | 'error' | 'differences'>): Pick<Evidence, 'mean' | 'error'> {
  const size = Math.max(...differences.map(Math.abs))
  return { mean: Math.abs(mean) < 1e-12 * size ? 0 : mean, error: error < 1e-12 * size ? 0 : error }
}

/**
 * The one-sided p-values that the mean difference lies above `at`, and that it lies below. Each is the largest of three: Student's;
 * that of Hall's transformation, which takes out skewness; and, where at most 14 differences differ from `at`, the exact one of all
 * changes of sign, which holds for few and for tied values too.
 *
 * Sources: Hall, On the removal of skewness by transformation, J. R. Statist. Soc. B 54 (1992); Fisher, The Design of Experiments
 * (1935), section 21.
 */
export function oneSided(evidence: Evidence, at: number): { above: number; below: number } {
  const { mean, error, df, skewness, differences } = evidence
  const t = mean === at ? 0 : (mean - at) / error
  const hall = Number.isFinite(t)
    ? t + (skewness * t * t) / 3 + (skewness ** 2 * t ** 3) / 27 + skewness / 6
    : t
  const exact = signFlips(differences.map((difference) => difference - at))
  return {
    above: Math.max(studentTail(t, df), studentTail(hall, df), exact.above),
    below: Math.max(studentTail(-t, df), studentTail(-hall, df), exact.below),
  }
}

/** Zeros say nothing. With more values than this, Student's and Hall's p-values hold, and the exact one takes too long. */
const mostFlipped = 14

/** Share of all changes of sign whose sum is at least as large as that of the values, and at most as large. */
function signFlips(values: readonly number[]): { above: number; below: number } {
  const nonzero = values.filter((value) => value !== 0)
  if (nonzero.length > mostFlipped) return { above: 0, below: 0 }
  const observed = nonzero.reduce((sum, value) => sum + value, 0)
  const slack = 1e-9 * nonzero.reduce((sum, value) => sum + Math.abs(value), 0)
  const signs = nonzero.map(() => 1)
  const count = 2 ** nonzero.length
  let [sum, atLeast, atMost] = [observed, 0, 0]
  for (let i = 1; i <= count; i++) {
    if (sum >= observed - slack) atLeast++
    if (sum <= observed + slack) atMost++
    // Gray code: one sign changes at a time.
    const bit = 31 - Math.clz32(i & -i)
    if (bit >= nonzero.length) break
    signs[bit] = -signs[bit]
    sum += 2 * signs[bit] * nonzero[bit]
  }
  return { above: atLeast / count, below: atMost / count }
}

/** Interval of the mean difference: on each side the wider one of Student's and Hall's. */
export function interval(
  { mean, error, df, skewness }: Evidence,
  level: number,
): { low: number; high: number } {
  const student = studentQuantile((1 + level) / 2, df)
  const hall = (y: number): number =>
    Math.abs(skewness) < 1e-6 ? y : (3 / skewness) * (Math.cbrt(1 + skewness * (y - skewness / 6)) - 1)
  return {
    low: mean - error * Math.max(student, hall(student)),
    high: mean + error * Math.max(student, -hall(-student)),
  }
}
