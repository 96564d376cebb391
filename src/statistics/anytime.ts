import { AgogeError } from '../error.ts'

/** An interval that holds at every number of values at once. */
export interface AnytimeInterval {
  /** Of the values so far. */
  mean: number
  low: number
  high: number
  /** Values so far. */
  n: number
}

/** Settings of `anytimeInterval`. */
export interface AnytimeSettings {
  /** Confidence that the interval holds at all times. Default: 0.95. */
  level?: number
  /** The smallest and the largest value that can occur. Default: -1 and 1, as of a difference of two shares. */
  range?: readonly [number, number]
  /** Number of values that there may be: the interval is narrow up to there, and holds for any number. Default: 1000. */
  values?: number
}

/** Takes values one by one, and gives the interval after each. */
export interface AnytimeSequence {
  add: (value: number) => AnytimeInterval
}

/** Values between 0 and 1, and how often each was seen. */
type Counts = readonly (readonly [value: number, count: number])[]

/** Shares of what may be lost. Large ones find large differences soon; the smallest is the best one for values of the largest variance after half of them. */
function stakesFor(values: number, limit: number): number[] {
  const smallest = Math.sqrt((2 * limit) / (values / 2))
  const stakes = [0.9]
  while (stakes[stakes.length - 1] / 2 >= smallest) stakes.push(stakes[stakes.length - 1] / 2)
  return stakes
}

/** The logarithm of what a capital of 1 became, divided over bets on a mean above `mean`. If that is the mean, it ever exceeds 1 / a with probability a at most. */
function logCapital(counts: Counts, mean: number, stakes: readonly number[]): number {
  const logs = stakes.map((stake) => {
    let log = -Math.log(stakes.length)
    for (const [value, count] of counts) log += count * Math.log(1 - stake + (stake * value) / mean)
    return log
  })
  const most = Math.max(...logs)
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0))
}

interface Bets {
  stakes: readonly number[]
  /** A capital with a larger logarithm refutes a mean. */
  limit: number
}

/** The largest mean that the bets refute, or `from` if that is larger. The capital falls with the mean, so all smaller ones are refuted too. */
function refuted(counts: Counts, from: number, { stakes, limit }: Bets): number {
  if (logCapital(counts, Math.max(from, precision), stakes) < limit) return from
  let [below, above] = [from, 1]
  while (above - below > precision) {
    const middle = (below + above) / 2
    if (logCapital(counts, middle, stakes) >= limit) below = middle
    else above = middle
  }
  return below
}

/** Of the bounds, as a share of the range. */
const precision = 1e-5

/**
 * A confidence sequence for the mean of bounded values: with probability `level` it contains the mean after each of them, so one may
 * look as often as one likes and stop for any reason. It is wider than an interval for a number of values that was fixed before. The time for a value grows
 * with the number of different values before it.
 *
 * Source: Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting (J. R. Statist. Soc. B 86, 2024; arXiv
 * 2010.09686), section 4: one bets against each mean that is possible, and leaves out those against which the bets have won more than 2 / (1 - level). The stakes
 * are a mixture, as in Robbins (1970), with half of the error on each side; intersected with the intervals before.
 * docs/results/coverage.md has its measured coverage.
 *
 * @throws AgogeError `bad-argument` if `values` is below 0 or not finite, or (by `add`) for a value outside of the range.
 * @example
 * const sequence = anytimeInterval()
 * for (const gain of gains) if (sequence.add(gain).low > 0) break
 */
export function anytimeInterval({
  level = 0.95,
  range = [-1, 1],
  values = 1000,
}: AnytimeSettings = {}): AnytimeSequence {
  if (!(values >= 0 && values < Infinity))
    throw new AgogeError('the interval is made for a number of values', {
      code: 'bad-argument',
      given: values,
      expected: 'values: 0 or more, such as the number of tasks',
    })
  const [least, most] = range
  const width = most - least
  const limit = Math.log(2 / (1 - level))
  const bets = { stakes: stakesFor(values, limit), limit }
  const seen = new Map<number, number>()
  let [n, sum] = [0, 0]
  // The range itself is an interval that always holds.
  let [low, high] = [0, 1]
  return {
    add(value) {
      if (!(value >= least && value <= most))
        throw new AgogeError('a value lies outside of its range', {
          code: 'bad-argument',
          given: value,
          expected: `from ${least} to ${most}`,
        })
      const share = (value - least) / width
      seen.set(share, (seen.get(share) ?? 0) + 1)
      const counts = [...seen]
      const fromAbove = counts.map(([one, count]) => [1 - one, count] as const)
      n += 1
      sum += value
      // Means of all tasks may be refuted, with a probability of 1 - level; then one is left.
      low = Math.min(refuted(counts, low, bets), high)
      high = Math.max(1 - refuted(fromAbove, 1 - high, bets), low)
      return { mean: sum / n, low: least + width * low, high: least + width * high, n }
    },
  }
}
