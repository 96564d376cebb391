/**
 * Quantile of Student's t distribution: the value that a draw stays below with probability `p`. `df`, the degrees of
 * freedom, need not be whole. Accurate to nine digits for `p` in [0.5, 0.9999] and `df` of 1 and more.
 */
export function studentQuantile(p: number, df: number): number {
  if (p < 0.5) return -studentQuantile(1 - p, df)
  let [low, high] = [0, 1]
  while (upperTail(high, df) > 1 - p) high *= 2
  for (let i = 0; i < 100 && high - low > 1e-11 * high; i++) {
    const middle = (low + high) / 2
    if (upperTail(middle, df) > 1 - p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** Probability of a draw above `t`, for `t` >= 0. */
function upperTail(t: number, df: number): number {
  return incompleteBeta(df / (df + t * t), df / 2, 0.5) / 2
}

/** The regularised incomplete beta function, by Lentz's continued fraction (Press et al., Numerical Recipes, section 6.4). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1
  // The fraction converges fast on this side only.
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

/** Stirling's series, after the recurrence has brought the argument above 10. */
function logGamma(x: number): number {
  let shift = 0
  for (; x < 10; x++) shift += Math.log(x)
  const inverse = 1 / (x * x)
  const series = (1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse / 1680))) / x
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - shift
}
