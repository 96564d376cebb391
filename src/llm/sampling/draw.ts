import { isKept } from './truncation.ts'
import type { Kept } from './truncation.ts'

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

/** The same among the tokens that are left, whose weights need not add up to 1. */
export function drawKept(
  weights: Float32Array,
  start: number,
  size: number,
  kept: Kept,
  uniform: number,
): number {
  const target = uniform * kept.mass
  let sum = 0
  let last = 0
  for (let i = 0; i < size; i++) {
    const weight = weights[start + i]
    if (!isKept(kept, weight, i)) continue
    sum += weight
    last = i
    if (sum > target) return i
  }
  return last
}

/** The most probable token; the first of those that tie. */
export function likeliestToken(probabilities: Float32Array, start: number, size: number): number {
  let best = start
  for (let i = start + 1; i < start + size; i++) if (probabilities[i] > probabilities[best]) best = i
  return best - start
}

/** The `count` most probable tokens, the most probable first; of those that tie the lower ids. */
export function likeliestTokens(
  probabilities: Float32Array,
  start: number,
  size: number,
  count: number,
): number[] {
  const best: number[] = []
  const most = Math.min(count, size)
  if (most === 0) return best
  for (let id = 0; id < size; id++) {
    const value = probabilities[start + id]
    if (best.length === most && value <= probabilities[start + best[most - 1]]) continue
    let place = best.length === most ? most - 1 : best.length
    while (place > 0 && probabilities[start + best[place - 1]] < value) {
      best[place] = best[place - 1]
      place--
    }
    best[place] = id
  }
  return best
}
