import type { LossValue } from './types.ts'

/**
 * The sum of losses over the same tokens, each with its coefficient: a policy loss with a divergence, or
 * demonstrations mixed into reinforcement, `(1 - mu) rl + mu sft`. `clipFraction` is the largest of the terms'.
 *
 * Sources of the mixture: CHORD (arXiv 2508.11408), whose mu falls over training; verl and TRL add `kl_coef * kl`.
 *
 * @throws RangeError where the terms have gradients of different lengths.
 */
export function combineLosses(terms: readonly { loss: LossValue; coefficient: number }[]): LossValue {
  const gradient = new Float32Array(terms.length === 0 ? 0 : terms[0].loss.gradient.length)
  let value = 0
  let clipFraction = 0
  for (const { loss, coefficient } of terms) {
    if (loss.gradient.length !== gradient.length)
      throw new RangeError(
        `losses over ${gradient.length} and ${loss.gradient.length} tokens cannot be added`,
      )
    value += coefficient * loss.value
    clipFraction = Math.max(clipFraction, loss.clipFraction)
    for (let t = 0; t < gradient.length; t++) gradient[t] += coefficient * loss.gradient[t]
  }
  return { value, gradient, clipFraction }
}

/**
 * Weights of demonstrated tokens that spare what the policy knows and what would break it: `weight * p (1 - p)`, p its
 * own probability of the token, without gradient. Greatest where it is undecided.
 *
 * Source: CHORD-phi (arXiv 2508.11408).
 */
export function highEntropyWeights(logprobs: ArrayLike<number>, weights: ArrayLike<number>): Float32Array {
  return Float32Array.from(weights, (weight, t) =>
    weight === 0 ? 0 : -weight * Math.exp(logprobs[t]) * Math.expm1(logprobs[t]),
  )
}
