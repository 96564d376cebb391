import type { LossValue } from './types.ts'

/**
 * The critic's loss: half the squared error `(V - return)^2`, weighted. With `clip` the new value is also tried
 * within +-clip of the old one, and the worse of both counts.
 *
 * Source: PPO's first implementation (OpenAI baselines); verl's `compute_value_loss`, TRL's PPO, both with the half.
 *
 * @returns `gradient[t]` is d value / d values[t].
 */
export function valueLoss(
  inputs: {
    values: ArrayLike<number>
    returns: ArrayLike<number>
    weights: ArrayLike<number>
    /** By the critic before the update; needed for the clip only. */
    oldValues?: ArrayLike<number>
  },
  settings: { clip?: number } = {},
): LossValue {
  const { values, returns, weights, oldValues = values } = inputs
  const { clip = Infinity } = settings
  const gradient = new Float32Array(values.length)
  let value = 0
  let counted = 0
  let clipped = 0
  for (let t = 0; t < gradient.length; t++) {
    if (weights[t] === 0) continue
    const bounded = Math.min(oldValues[t] + clip, Math.max(oldValues[t] - clip, values[t]))
    const error = values[t] - returns[t]
    const limited = bounded - returns[t]
    const worse = limited * limited > error * error
    value += (weights[t] * (worse ? limited * limited : error * error)) / 2
    gradient[t] = worse ? 0 : weights[t] * error
    counted++
    if (worse) clipped++
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}
