// The gain by RL over several seeds.
import { average, type Estimate, type MeanEstimate } from 'agoge/statistics'

/**
 * The mean of the gains of several seeds, whose tasks differ, with its interval: the distances to the bounds add up as
 * squares (Zou & Donner, Statistics in Medicine 27 (2008)). It covers the choice of tasks, not that of seeds.
 */
export function meanGain(gains: readonly MeanEstimate[]): MeanEstimate {
  const mean = average(gains.map((gain) => gain.mean))
  const n = gains.reduce((sum, gain) => sum + gain.n, 0)
  const unknown = gains.find((gain) => 'noInterval' in gain)
  if (unknown !== undefined) return { ...unknown, mean, n }
  const spread = (of: (gain: Estimate) => number): number =>
    Math.hypot(...gains.map((gain) => ('noInterval' in gain ? 0 : of(gain)))) / gains.length
  return {
    mean,
    low: mean - spread((gain) => gain.mean - gain.low),
    high: mean + spread((gain) => gain.high - gain.mean),
    n,
  }
}
