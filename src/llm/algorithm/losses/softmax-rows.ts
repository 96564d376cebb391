/** Log-probabilities of one row of V logits that begins at `offset`, written into `out` (V numbers). */
export function logSoftmaxRow(logits: ArrayLike<number>, offset: number, out: Float64Array): void {
  let most = -Infinity
  for (let v = 0; v < out.length; v++) most = Math.max(most, logits[offset + v])
  let sum = 0
  for (let v = 0; v < out.length; v++) sum += Math.exp(logits[offset + v] - most)
  const shift = most + Math.log(sum)
  for (let v = 0; v < out.length; v++) out[v] = logits[offset + v] - shift
}
