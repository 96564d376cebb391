/** Mean and variance of all rows seen so far. */
export interface RunningMeanStd {
  /** [width]. */
  readonly mean: Float64Array
  /** [width]: of the population, not of a sample. */
  readonly variance: Float64Array
  /** [1]: rows seen, plus the count it began with. */
  readonly count: Float64Array
  /** [1]: 1 where updates are ignored. */
  readonly frozen: Uint8Array
  /** Takes in [n, width] rows; with `which`, those where it is 1. Allocates nothing. */
  update(rows: ArrayLike<number>, which?: Uint8Array): void
  /** Stops or resumes taking in rows, as for evaluation. */
  freeze(frozen?: boolean): void
}

/**
 * Running statistics as Gymnasium's `RunningMeanStd`: batches are merged by the formula of Chan, Golub and LeVeque (1979),
 * beginning with mean 0, variance 1 and a count of `epsilon`. All in double precision (Gymnasium keeps those of float32
 * observations in float32).
 */
export function createRunningMeanStd(width: number, epsilon = 1e-4): RunningMeanStd {
  const mean = new Float64Array(width)
  const variance = new Float64Array(width).fill(1)
  const count = Float64Array.of(epsilon)
  const frozen = new Uint8Array(1)
  return {
    mean,
    variance,
    count,
    frozen,
    update(rows, which) {
      if (frozen[0] === 1) return
      const n = rows.length / width
      let taken = 0
      for (let row = 0; row < n; row++) if (which === undefined || which[row] === 1) taken++
      if (taken === 0) return
      const total = count[0] + taken
      for (let k = 0; k < width; k++) {
        let sum = 0
        for (let row = 0; row < n; row++)
          if (which === undefined || which[row] === 1) sum += rows[row * width + k]
        const batchMean = sum / taken
        let squares = 0
        for (let row = 0; row < n; row++) {
          if (which !== undefined && which[row] !== 1) continue
          const deviation = rows[row * width + k] - batchMean
          squares += deviation * deviation
        }
        const delta = batchMean - mean[k]
        mean[k] += (delta * taken) / total
        const moment = variance[k] * count[0] + squares + (delta * delta * count[0] * taken) / total
        variance[k] = moment / total
      }
      count[0] = total
    },
    freeze(on = true) {
      frozen[0] = on ? 1 : 0
    },
  }
}

/** What of the statistics is saved with a state. */
export const statisticsArrays = ({ mean, variance, count, frozen }: RunningMeanStd) => ({
  mean,
  variance,
  count,
  frozen,
})
