/** Inner product, over the length of `a`. */
export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let total = 0
  for (let k = 0; k < a.length; k++) total += a[k] * b[k]
  return total
}

/** Probabilities of logits. */
export function softmax(logits: readonly number[]): number[] {
  const most = Math.max(...logits)
  const weights = logits.map((logit) => Math.exp(logit - most))
  const sum = weights.reduce((a, b) => a + b)
  return weights.map((weight) => weight / sum)
}
