/** A mean with its 95% interval (or another level, where asked for) over `n` values. */
export interface Estimate {
  mean: number
  low: number
  high: number
  n: number
}

/** A mean of too few values for an interval that holds. */
export interface NoInterval {
  mean: number
  low: null
  high: null
  n: number
  /** Why there is no interval: `no interval: n = 3, fewer than 5`. */
  noInterval: string
}

export type MeanEstimate = Estimate | NoInterval

/** With fewer values than this no interval is given: skewed data would make any of them say too much. */
const fewest = 5

/** The estimate where `n` values are too few for an interval, else null. */
export function tooFew(mean: number, n: number): NoInterval | null {
  if (n >= fewest) return null
  return { mean, low: null, high: null, n, noInterval: `no interval: n = ${n}, fewer than ${fewest}` }
}

/** `LOW to HIGH`, numbers as `show` writes them, or why there is no interval. */
export function intervalText(estimate: MeanEstimate, show: (value: number) => string): string {
  return estimate.low === null ? estimate.noInterval : `${show(estimate.low)} to ${show(estimate.high)}`
}
