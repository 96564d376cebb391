import { holdLogRatio } from './sum-tokens.ts'
import type { LossInputs, LossValue } from './types.ts'

/**
 * k3 for tokens that an older policy sampled: `ratio * (exp(-d) - 1 + d)` with d = logprob - reference and the ratio
 * trainer / sampler, through which the gradient flows too. Value and gradient are then unbiased for
 * KL(policy || reference): at ratio 1 the slope is d.
 *
 * Source: DeepSeek-V3.2 (arXiv 2512.02556); TRL's `use_bias_correction_kl`, slime's `--use-unbiased-kl`. Both
 * differences are held within +-20.
 */
export function unbiasedKlLoss(
  inputs: Omit<LossInputs, 'advantages'> & { referenceLogprobs: ArrayLike<number> },
): LossValue {
  const { logprobs, samplerLogprobs, referenceLogprobs, weights } = inputs
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  for (let t = 0; t < gradient.length; t++) {
    if (weights[t] === 0) continue
    const change = logprobs[t] - samplerLogprobs[t]
    const distance = logprobs[t] - referenceLogprobs[t]
    const ratio = Math.exp(holdLogRatio(change))
    const d = holdLogRatio(distance)
    const k3 = Math.expm1(-d) + d
    value += weights[t] * ratio * k3
    const ofRatio = holdLogRatio(change) === change ? k3 : 0
    const ofDistance = d === distance ? -Math.expm1(-d) : 0
    gradient[t] = weights[t] * ratio * (ofRatio + ofDistance)
  }
  return { value, gradient, clipFraction: 0 }
}
