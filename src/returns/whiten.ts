/**
 * Replaces each value by `(x - mean) / sqrt(var + 1e-8)`, with the weighted mean and the unbiased weighted variance. A value of
 * weight 3 counts as three equal values. If the total weight is below 2, all values become 0.
 *
 * Same as verl's `masked_whiten`, which has the same 1e-8 inside the root.
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

/** Subtracts the mean and divides by the unbiased standard deviation plus 1e-8, in place, as PyTorch's `std` computes it. */
export function standardise(values: Float32Array): Float32Array {
  let mean = 0
  for (let i = 0; i < values.length; i++) mean += values[i]
  mean /= values.length
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] - mean) ** 2
  const deviation = Math.sqrt(sum / Math.max(1, values.length - 1)) + 1e-8
  for (let i = 0; i < values.length; i++) values[i] = (values[i] - mean) / deviation
  return values
}
