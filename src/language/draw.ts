/**
 * The token at quantile `uniform` of the distribution in `probabilities[start .. start + size)`, by inverting its
 * cumulative sum. Where rounding leaves the sum below `uniform`, the last token with any probability.
 */
export function drawToken(probabilities: Float32Array, start: number, size: number, uniform: number): number {
  let sum = 0
  for (let i = start; i < start + size; i++) {
    sum += probabilities[i]
    if (sum > uniform) return i - start
  }
  let last = start + size - 1
  while (last > start && probabilities[last] === 0) last--
  return last - start
}

/** The most probable token; the first of those that tie. */
export function likeliestToken(probabilities: Float32Array, start: number, size: number): number {
  let best = start
  for (let i = start + 1; i < start + size; i++) if (probabilities[i] > probabilities[best]) best = i
  return best - start
}
