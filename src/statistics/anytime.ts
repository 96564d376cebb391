import { AgogeError } from '../error.ts'

/** An interval that holds at every number of values at once. */
export interface AnytimeInterval {
  /** The weighted mean on which the interval is centred. */
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
}

/** Takes values one by one, and gives the interval after each. */
export interface AnytimeSequence {
  add: (value: number) => AnytimeInterval
}

/**
 * A confidence sequence for the mean of bounded values: with probability `level` it contains the mean after each of them, so one may
 * look as often as one likes and stop for any reason. It is wider than an interval for a number of values that was fixed before.
 *
 * Source: Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting (J. R. Statist. Soc. B 86, 2024; arXiv
 * 2010.09686), theorem 2, the predictable plug-in empirical Bernstein sequence, intersected with those before it.
 *
 * @throws AgogeError `bad-argument` (by `add`) for a value outside of the range.
 * @example
 * const sequence = anytimeInterval()
 * for (const gain of gains) if (sequence.add(gain).low > 0) break
 */
export function anytimeInterval({ level = 0.95, range = [-1, 1] }: AnytimeSettings = {}): AnytimeSequence {
  const [least, most] = range
  const width = most - least
  const log = Math.log(2 / (1 - level))
  let n = 0
  let sum = 0
  /** Of squared distances from the running mean, for the variance. */
  let squares = 0
  let [weights, weighted, bound] = [0, 0, 0]
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
      const x = (value - least) / width
      const meanBefore = (0.5 + sum) / (n + 1)
      const varianceBefore = (0.25 + squares) / (n + 1)
      n += 1
      // Bets use only what came before this value.
      const bet = Math.min(0.5, Math.sqrt((2 * log) / (varianceBefore * n * Math.log(1 + n))))
      weights += bet
      weighted += bet * x
      bound += (x - meanBefore) ** 2 * (-Math.log(1 - bet) - bet)
      sum += x
      squares += (x - (0.5 + sum) / (n + 1)) ** 2
      const centre = weighted / weights
      const half = (log + bound) / weights
      low = Math.max(low, centre - half)
      high = Math.min(high, centre + half)
      return { mean: least + width * centre, low: least + width * low, high: least + width * high, n }
    },
  }
}
