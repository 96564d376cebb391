import type { GenerationSettings } from '../model-backend.ts'

/**
 * Which tokens of a row remain: those with a weight above `cutoff`, and of those with exactly that weight the ids up to
 * `lastTie`.
 */
interface Kept {
  cutoff: number
  lastTie: number
  /** Sum of the remaining weights. */
  mass: number
}

type Truncation = Pick<GenerationSettings, 'topK' | 'topP' | 'minP'>

/** Buckets distinguish weights by sign, exponent and three bits of the fraction. */
const bucketShift = 20
const buckets = 1 << 12

/** Whether these settings can remove tokens from a vocabulary of that size. */
export function truncates({ topK = Infinity, topP = 1, minP = 0 }: Truncation, size: number): boolean {
  return topK < size || topP < 1 || minP > 0
}

/**
 * Applies top-k, then top-p of the rest, then min-p to the weights at `start .. start + size` (Fan et al. 2018,
 * Holtzman et al. 2020, Nguyen et al. 2024), in the order of transformers. Weights need not sum to 1; zero weights
 * never remain. Does not sort the vocabulary: one pass counts weights into buckets by exponent, and only the bucket at
 * the cutoff is sorted.
 */
export function truncate(
  weights: Float32Array,
  start: number,
  size: number,
  { topK = Infinity, topP = 1, minP = 0 }: Truncation,
): Kept {
  let kept: Kept = { cutoff: 0, lastTie: -1, mass: 0 }
  if (topK < size || topP < 1) {
    const table = count(weights, start, size)
    let mass = Infinity
    if (topK < size) {
      const head = prefix(table, weights, start, size, (seen) => seen >= topK)
      kept = head
      mass = head.mass
    }
    const whole = Math.min(mass, table.total)
    // Sums of weights have rounding errors, so 1 means all.
    if (topP < 1) kept = prefix(table, weights, start, size, (_, sum) => sum >= topP * whole)
  }
  if (minP > 0) {
    let most = 0
    for (let i = start; i < start + size; i++) if (weights[i] > most) most = weights[i]
    const cutoff = minP * most
    // The most probable token always remains.
    if (cutoff > kept.cutoff) kept = { ...kept, cutoff: Math.min(cutoff, most), lastTie: size }
  }
  let mass = 0
  for (let i = 0; i < size; i++) {
    const weight = weights[start + i]
    if (isKept(kept, weight, i)) mass += weight
  }
  return { ...kept, mass }
}

/** Whether token `id` with that weight remains. */
export function isKept({ cutoff, lastTie }: Kept, weight: number, id: number): boolean {
  return weight > cutoff || (weight === cutoff && id <= lastTie)
}

interface Table {
  bits: Int32Array
  counts: Int32Array
  masses: Float64Array
  total: number
}

const counts = new Int32Array(buckets)
const masses = new Float64Array(buckets)

function count(weights: Float32Array, start: number, size: number): Table {
  const bits = new Int32Array(weights.buffer, weights.byteOffset + 4 * start, size)
  counts.fill(0)
  masses.fill(0)
  let total = 0
  for (let i = 0; i < size; i++) {
    const weight = weights[start + i]
    const bucket = bits[i] >>> bucketShift
    counts[bucket]++
    masses[bucket] += weight
    total += weight
  }
  return { bits, counts, masses, total }
}

/** The shortest prefix, by falling weight and rising id, for which `enough` holds; everything if it never does. */
function prefix(
  table: Table,
  weights: Float32Array,
  start: number,
  size: number,
  enough: (seen: number, mass: number) => boolean,
): Kept {
  let seen = 0
  let mass = 0
  // Bucket 0 holds the zeros.
  for (let bucket = (buckets >> 1) - 1; bucket > 0; bucket--) {
    if (table.counts[bucket] === 0) continue
    if (!enough(seen + table.counts[bucket], mass + table.masses[bucket])) {
      seen += table.counts[bucket]
      mass += table.masses[bucket]
      continue
    }
    const edge: number[] = []
    for (let i = 0; i < size; i++) if (table.bits[i] >>> bucketShift === bucket) edge.push(i)
    edge.sort((a, b) => weights[start + b] - weights[start + a] || a - b)
    for (const [place, id] of edge.entries()) {
      seen++
      mass += weights[start + id]
      if (enough(seen, mass) || place === edge.length - 1)
        return { cutoff: weights[start + id], lastTie: id, mass }
    }
  }
  return { cutoff: 0, lastTie: -1, mass }
}

/**
 * The token at quantile `uniform` of the distribution in `probabilities[start .. start + size)`, by inverting the
 * cumulative sum. If rounding leaves the sum below `uniform`, returns the last token with non-zero probability.
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

/** The same among the remaining tokens, whose weights need not sum to 1. */
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

/** The most probable token; the lowest id among equals. */
export function likeliestToken(probabilities: Float32Array, start: number, size: number): number {
  let best = start
  for (let i = start + 1; i < start + size; i++) if (probabilities[i] > probabilities[best]) best = i
  return best - start
}

/** The `count` most probable tokens, most probable first; lower ids first among equals. */
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
