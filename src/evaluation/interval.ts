/** A mean with its 95% interval (or another level, where asked for) over `n` values. */
export interface Estimate {
  mean: number
  low: number
  high: number
  n: number
}
