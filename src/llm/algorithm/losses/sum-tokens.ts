import type { LossInputs, LossValue } from './types.ts'

/** Loss and slope d loss / d logprob of one token, before its weight. */
export interface TokenLoss {
  loss: number
  derivative: number
  clipped?: boolean
}

/** The largest difference of log-probabilities, either way, whose exponential is taken; the number is verl's. */
export const logRatioLimit = 20

/** Held within the limit. A held ratio is constant, so it has no slope (`torch.clamp` says the same). */
export function holdLogRatio(difference: number): number {
  return Math.min(logRatioLimit, Math.max(-logRatioLimit, difference))
}

/**
 * The weighted sum over tokens that all losses share. `difference` is trainer less sampler; `logRatio` is the same
 * held within +-20, so that its exponential stays finite.
 */
export function sumTokens(
  inputs: LossInputs,
  token: (logRatio: number, advantage: number, difference: number, logprob: number) => TokenLoss,
): LossValue {
  const { logprobs, samplerLogprobs, advantages, weights } = inputs
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  let counted = 0
  let clipped = 0
  for (let t = 0; t < logprobs.length; t++) {
    const weight = weights[t]
    if (weight === 0) continue
    const difference = logprobs[t] - samplerLogprobs[t]
    const result = token(holdLogRatio(difference), advantages[t], difference, logprobs[t])
    value += weight * result.loss
    gradient[t] = weight * result.derivative
    counted++
    if (result.clipped === true) clipped++
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}
