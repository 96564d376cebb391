/** The arithmetic mean, or 0 for no values. */
export function mean(values: ArrayLike<number>): number {
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
  return mean(sorted.slice(cut, sorted.length - cut))
}

/**
 * Spearman's rank correlation of paired values, in [-1, 1]. Ties share their mean rank. Returns 0 if all values
 * of one side are equal. Equals `scipy.stats.spearmanr` otherwise.
 */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)]
  const [meanX, meanY] = [mean(x), mean(y)]
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
