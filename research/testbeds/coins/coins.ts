import { betaDraw } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'

/** Predictions and what they are worth: their divergence in nats, and how much of their spread is due to the order of flips. */
export interface Judged {
  score: number
  measures: { order: number }
}

export const flips = 10
export const sequences = 32
/** The coins of the distribution: half of them land on heads more often than not, half on tails. */
const kinds = [
  [8, 2],
  [2, 8],
]

/** Flips [sequences, flips], a new coin in every row; 1 is heads. */
export const coins = (random: Random): Float32Array =>
  Float32Array.from(
    Array.from({ length: sequences }, () => {
      const [heads, tails] = random.pick(kinds)
      const chance = betaDraw(heads, tails, random)
      return Array.from({ length: flips }, () => (random.next() < chance ? 1 : 0))
    }).flat(),
  )

/** Probability of a sequence of so many heads and tails, for coins of a beta distribution. */
function sequenceChance(a: number, b: number, heads: number, tails: number): number {
  let chance = 1
  for (let k = 0; k < heads + tails; k++) chance *= (k < heads ? a + k : b + k - heads) / (a + b + k)
  return chance
}
const mixedChance = (heads: number, tails: number): number =>
  average(kinds.map(([a, b]) => sequenceChance(a, b, heads, tails)))

/** Every sequence of flips, row by row. */
export const every = Float32Array.from(
  { length: flips * 2 ** flips },
  (_, k) => (Math.floor(k / flips) >> (k % flips)) & 1,
)
const headsBefore = every.map((_, k) => every.subarray(k - (k % flips), k).reduce((a, b) => a + b, 0))
/** Predictions of heads for every sequence and flip, by the heads among the first `seen` flips. */
export const byCount = (rule: (heads: number, seen: number) => number): Float32Array =>
  headsBefore.map((heads, k) => rule(heads, k % flips))
const exact = byCount(
  (heads, seen) => mixedChance(heads + 1, seen - heads) / mixedChance(heads, seen - heads),
)

/** Divergence in nats of the predictions from the exact ones, its exact mean over sequences and flips. */
export function judged(predicted: Float32Array): Judged {
  let score = 0
  const last: number[][] = Array.from({ length: flips }, () => [])
  for (const [k, p] of exact.entries()) {
    const [seen, heads, q] = [k % flips, headsBefore[k], predicted[k]]
    // The rows that begin with these flips share their probability.
    const weight = mixedChance(heads, seen - heads) / 2 ** (flips - seen) / flips
    score += weight * (p * Math.log(p / q) + (1 - p) * Math.log((1 - p) / (1 - q)))
    if (seen === flips - 1) last[heads].push(Math.log(q / (1 - q)))
  }
  const spread = (values: number[]): number => average(values.map((value) => (value - average(values)) ** 2))
  // How much of the spread of the last predictions is due to the order of heads and tails.
  const order = last.reduce((sum, values) => sum + values.length * spread(values), 0) / last.flat().length
  return { score, measures: { order: order / Math.max(spread(last.flat()), 1e-9) } }
}

/** Frequencies of heads by the place and the last `length` flips, in the same coins as the network learns from. */
export function shortMemory(seed: number, updates: number, length: number): Judged {
  const random = createRandom('coins', seed)
  const key = (data: Float32Array, k: number): string =>
    `${k % flips}:${data.subarray(k - Math.min(length, k % flips), k).join('')}`
  const counts = new Map<string, [number, number]>()
  for (let update = 0; update < updates; update++) {
    const data = coins(random)
    for (const [k, flip] of data.entries()) {
      const [heads, all] = counts.get(key(data, k)) ?? [0, 0]
      counts.set(key(data, k), [heads + flip, all + 1])
    }
  }
  return judged(
    every.map((_, k) => {
      const [heads, all] = counts.get(key(every, k)) ?? [0, 0]
      return (heads + 0.5) / (all + 1)
    }),
  )
}

/** Bayes with the beta distribution that makes the same coins most probable: of the right kind, but for one cluster. */
export function fittedBeta(seed: number, updates: number): Judged {
  const random = createRandom('coins', seed)
  const counts = Array.from({ length: flips + 1 }, () => 0)
  for (let update = 0; update < updates; update++) {
    const data = coins(random)
    for (let row = 0; row < sequences; row++)
      counts[data.subarray(row * flips, (row + 1) * flips).reduce((a, b) => a + b, 0)]++
  }
  const likelihood = ([a, b]: number[]): number =>
    counts.reduce(
      (sum, count, heads) => sum + count * Math.log(sequenceChance(a, b, heads, flips - heads)),
      0,
    )
  const sizes = Array.from({ length: 40 }, (_, k) => 0.2 * 1.1 ** k)
  const pairs = sizes.flatMap((a) => sizes.map((b) => [a, b]))
  const [a, b] = pairs.reduce((best, pair) => (likelihood(pair) > likelihood(best) ? pair : best))
  return judged(byCount((heads, seen) => (a + heads) / (a + b + seen)))
}
