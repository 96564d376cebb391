/** The arithmetic mean; 0 of nothing. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += values[i]
  return values.length === 0 ? 0 : sum / values.length
}

/** Quantile `q` in [0, 1] of values sorted upwards, linear between neighbours as NumPy's default. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const at = q * (sorted.length - 1)
  const below = Math.floor(at)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (at - below) * (sorted[above] - sorted[below])
}

/** Mean of what is left when a quarter of the values (rounded down) is cut at each end: `scipy.stats.trim_mean(x, 0.25)`. */
export function interquartileMean(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const cut = Math.floor(sorted.length / 4)
  return mean(sorted.slice(cut, sorted.length - cut))
}
