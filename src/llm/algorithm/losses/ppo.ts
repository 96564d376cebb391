import { defineLoss } from '../define.ts'
import { type LossInputs, type LossValue, sumTokens } from './tokens.ts'

/** Settings of `ppoLoss`. */
export interface PpoSettings {
  /** The ratio is clipped to [1 - clipLow, 1 + clipHigh]. DAPO's clip-higher is a `clipHigh` above `clipLow`. */
  clipLow: number
  clipHigh: number
  /**
   * Dual clip: where the advantage is negative, the loss is at most `-dualClip * advantage`. Must be above 1. verl
   * uses 3. Default: no dual clip.
   */
  dualClip?: number
}

/**
 * PPO's clipped surrogate loss: `-min(ratio * A, clip(ratio, 1 - clipLow, 1 + clipHigh) * A)`.
 *
 * Sources: PPO (arXiv 1707.06347), eq. 7; dual clip (arXiv 1912.09729); clip-higher: DAPO (arXiv 2503.14476). verl
 * always applies the dual clip. TRL's `delta` caps the unclipped ratio for advantages of either sign. For negative
 * advantages it equals the dual clip.
 */
export function ppoLoss(inputs: LossInputs, { clipLow, clipHigh, dualClip }: PpoSettings): LossValue {
  return sumTokens(inputs, (logRatio, advantage, difference) => {
    const ratio = Math.exp(logRatio)
    const clippedRatio = Math.min(1 + clipHigh, Math.max(1 - clipLow, ratio))
    const unclippedLoss = -ratio * advantage
    const clippedLoss = -clippedRatio * advantage
    if (
      dualClip !== undefined &&
      advantage < 0 &&
      Math.max(unclippedLoss, clippedLoss) > -dualClip * advantage
    )
      return { loss: -dualClip * advantage, derivative: 0, clipped: true }
    if (clippedLoss > unclippedLoss) return { loss: clippedLoss, derivative: 0, clipped: true }
    return { loss: unclippedLoss, derivative: logRatio === difference ? unclippedLoss : 0 }
  })
}

/** The importance-weighted policy gradient without a clip: `-ratio * A`. At ratio 1 the gradient equals REINFORCE's. */
export function importanceSamplingLoss(inputs: LossInputs): LossValue {
  return sumTokens(inputs, (logRatio, advantage, difference) => {
    const loss = -Math.exp(logRatio) * advantage
    return { loss, derivative: logRatio === difference ? loss : 0 }
  })
}

export const ppoDefinition = defineLoss({
  name: 'ppo',
  about: 'the ratio is clipped; dual clip and clip-higher by its settings',
  formula: '-min(r A, clip(r) A), at most -c A for A < 0',
  source: ['1707.06347', '1912.09729', '2503.14476'],
  settings: {
    clipLow: { type: 'number', minimum: 0 },
    clipHigh: { type: 'number', minimum: 0 },
    dualClip: { type: 'number', above: 1, optional: true },
  },
  compute: ppoLoss,
  backend: ({ clipLow, clipHigh, dualClip }) =>
    dualClip === undefined ? { name: 'ppo', clipLow, clipHigh } : undefined,
  cases: [
    { settings: { clipLow: 0.2, clipHigh: 0.28 } },
    { settings: { clipLow: 0.2, clipHigh: 0.3, dualClip: 3 } },
  ],
})

export const importanceSamplingDefinition = defineLoss({
  name: 'importance-sampling',
  about: 'the importance-weighted policy gradient, unclipped',
  formula: '-r A',
  settings: {},
  compute: (inputs) => importanceSamplingLoss(inputs),
  backend: () => ({ name: 'importance_sampling' }),
  cases: [{}],
})
