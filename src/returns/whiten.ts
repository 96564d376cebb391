/**
 * `(x - mean) / sqrt(var + 1e-8)` in place of each value, with the weighted mean and unbiased variance: a value of
 * weight 3 counts as three equal ones. Below a total weight of 2 there is no variance and everything is 0.
 *
 * verl's `masked_whiten`, which uses the same 1e-8 inside the root.
 */
export function whiten(values: readonly number[], weights?: readonly number[]): number[] {
  const weight = (i: number): number => weights?.[i] ?? 1
  const total = values.reduce((sum, _, i) => sum + weight(i), 0)
  if (total < 2) return values.map(() => 0)
  const mean = values.reduce((sum, value, i) => sum + weight(i) * value, 0) / total
  const squares = values.reduce((sum, value, i) => sum + weight(i) * (value - mean) ** 2, 0)
  const scale = 1 / Math.sqrt(squares / (total - 1) + 1e-8)
  return values.map((value) => (value - mean) * scale)
}
