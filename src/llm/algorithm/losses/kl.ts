import { sumTokens } from './sum-tokens.ts'
import type { LossInputs, LossValue } from './types.ts'

/** Schulman's three estimators of a divergence from samples: k1 unbiased, k2 low variance, k3 both. */
export type KlEstimator = 'k1' | 'k2' | 'k3'

/**
 * Estimates KL(policy || reference) from tokens drawn by the policy, with d = logprob - reference logprob:
 * k1 = d, k2 = d^2 / 2, k3 = exp(-d) - 1 + d.
 *
 * In k3 the difference is held within +-20, as in verl (which also holds the result within +-10; TRL holds nothing).
 *
 * Source: http://joschu.net/blog/kl-approx.html; TRL and verl use k3 as a loss. As a *loss*, k1 has a gradient of
 * zero mean and k3 one of the reversed divergence, k2 the true one: arXiv 2510.01555.
 */
export function klLoss(
  inputs: { logprobs: ArrayLike<number>; referenceLogprobs: ArrayLike<number>; weights: ArrayLike<number> },
  estimator: KlEstimator,
): LossValue {
  const rows: LossInputs = {
    logprobs: inputs.logprobs,
    samplerLogprobs: inputs.referenceLogprobs,
    advantages: new Float32Array(inputs.logprobs.length),
    weights: inputs.weights,
  }
  return sumTokens(rows, (held, _, difference) => {
    if (estimator === 'k1') return { loss: difference, derivative: 1 }
    if (estimator === 'k2') return { loss: (difference * difference) / 2, derivative: difference }
    return { loss: Math.expm1(-held) + held, derivative: held === difference ? -Math.expm1(-held) : 0 }
  })
}
