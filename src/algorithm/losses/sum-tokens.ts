import type { LossInputs, LossValue } from './types.ts'

/** Loss and slope d loss / d logprob of one token, before its weight. */
export interface TokenLoss {
  loss: number
  slope: number
  clipped?: boolean
}

/**
 * The weighted sum over tokens that all losses share. `logRatio` is trainer less sampler, held within +-20 (as in
 * verl) so that its exponential stays finite.
 */
export function sumTokens(
  inputs: LossInputs,
  token: (logRatio: number, advantage: number) => TokenLoss,
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
    const logRatio = Math.min(20, Math.max(-20, difference))
    const result = token(logRatio, advantages[t])
    value += weight * result.loss
    gradient[t] = weight * result.slope
    counted++
    if (result.clipped === true) clipped++
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}
