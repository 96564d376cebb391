import { createRandom } from 'agoge/engine'
import { interquartileMean, quantile } from 'agoge/statistics'
import type { Gate } from './gate.ts'

/** The margin as a share of the range of the score. */
const margin = 0.02
const resamples = 10_000

/**
 * The lower end of the one-sided 95% interval of the difference of the interquartile means, `ours - peer`: the 5%
 * quantile of a bootstrap that resamples the seeds of both sides independently.
 */
export function lowestDifference(ours: readonly number[], peer: readonly number[]): number {
  const random = createRandom(0, 'non-inferiority')
  const again = (values: readonly number[]): number =>
    interquartileMean(values.map(() => values[random.int(values.length)]))
  const draws = Float64Array.from({ length: resamples }, () => again(ours) - again(peer)).sort()
  return quantile(draws, 0.05)
}

/** Whether a score is not inferior to a peer's by more than 2% of the range of the score, with 95% confidence. */
export const notInferior = (
  { range: [low, high] }: Pick<Gate, 'range'>,
  ours: readonly number[],
  peer: readonly number[],
): boolean => lowestDifference(ours, peer) > -margin * (high - low)
