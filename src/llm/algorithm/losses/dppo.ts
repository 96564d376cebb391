import { defineLoss } from '../define.ts'
import { type LossInputs, type LossValue, sumTokens } from './tokens.ts'

/** Settings of `dppoLoss`. */
export interface DppoSettings {
  /** Drops a token of negative advantage if its probability has fallen by more than this. Default: 0.2. */
  low?: number
  /** Drops a token of positive advantage if its probability has risen by more than this. Default: 0.2. */
  high?: number
}

/**
 * The importance-weighted policy gradient, `-ratio A`, without tokens that have already moved far enough in the
 * direction of their gradient. The distance is the change of the probability, not its ratio: `p - p_sampler` is the
 * total variation of the binary choice between this token and all others. This lets rare tokens rise and limits likely
 * ones; PPO does the opposite. A dropped token has loss 0 and gradient 0.
 *
 * Source: DPPO (arXiv 2602.04879), eq. 11 to 13, binary TV; prime-rl's default loss (`dppo_mask_low`, `dppo_mask_high`
 * 0.2, with `kimiLoss` at level `token` and tau 2e-3 added), SkyRL's and Tinker's `dppo` (`delta_low`, `delta_high`).
 */
export function dppoLoss(inputs: LossInputs, settings: DppoSettings = {}): LossValue {
  const { low = 0.2, high = 0.2 } = settings
  return sumTokens(inputs, (logRatio, advantage, difference, logprob) => {
    const moved = Math.exp(logprob) - Math.exp(logprob - difference)
    if ((advantage > 0 && moved > high) || (advantage < 0 && moved < -low))
      return { loss: 0, derivative: 0, clipped: true }
    const loss = -Math.exp(logRatio) * advantage
    return { loss, derivative: logRatio === difference ? loss : 0 }
  })
}

export const dppoDefinition = defineLoss({
  name: 'dppo',
  about: 'limited by the change of probability instead of the ratio',
  formula: '-r A, 0 where p has moved by more than δ the way A pushes',
  source: ['2602.04879'],
  settings: {
    low: { type: 'number', minimum: 0, default: 0.2 },
    high: { type: 'number', minimum: 0, default: 0.2 },
  },
  compute: dppoLoss,
  cases: [{}, { settings: { low: 0.05, high: 0.3 } }],
  preset: {
    settings: {
      advantage: { name: 'grpo', std: false },
      loss: { name: 'dppo' },
      aggregation: { mode: 'token-mean' },
    },
  },
})
