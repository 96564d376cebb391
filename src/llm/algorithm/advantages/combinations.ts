/** log C(n, k) for 0 <= k <= n, factor by factor, so that large n do not overflow. */
function logCombinations(n: number, k: number): number {
  const smaller = Math.min(k, n - k)
  let sum = 0
  for (let i = 1; i <= smaller; i++) sum += Math.log((n - smaller + i) / i)
  return sum
}

/** C(a, j) / C(n, k), where C(n, k) is the number of ways to choose k of n; 0 where there is no way to choose j of a. */
export function combinationsRatio(a: number, j: number, n: number, k: number): number {
  if (j < 0 || j > a) return 0
  return Math.exp(logCombinations(a, j) - logCombinations(n, k))
}
