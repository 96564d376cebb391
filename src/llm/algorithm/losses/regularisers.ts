import {
  clampLogRatio,
  type LogitInputs,
  type LogitLossValue,
  logSoftmaxRow,
  type LossInputs,
  type LossValue,
  sumTokens,
} from './tokens.ts'

/** Schulman's three estimators of a divergence from samples: k1 is unbiased, k2 has low variance, k3 is both. */
export type KlEstimator = 'k1' | 'k2' | 'k3'

/**
 * Estimates KL(policy || reference) from tokens drawn by the policy, with d = logprob - reference logprob: k1 = d, k2 =
 * d^2 / 2, k3 = exp(-d) - 1 + d.
 *
 * In k3 the difference is clamped to +-20, as in verl (which also clamps the result to +-10; TRL clamps nothing).
 *
 * Source: http://joschu.net/blog/kl-approx.html; TRL and verl use k3 as a loss. As a *loss*, k2 has the true gradient;
 * the gradient of k1 has zero mean, and that of k3 belongs to the reversed divergence (arXiv 2510.01555).
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
  return sumTokens(rows, (clamped, _, difference) => {
    if (estimator === 'k1') return { loss: difference, derivative: 1 }
    if (estimator === 'k2') return { loss: (difference * difference) / 2, derivative: difference }
    return {
      loss: Math.expm1(-clamped) + clamped,
      derivative: clamped === difference ? -Math.expm1(-clamped) : 0,
    }
  })
}

/**
 * k3 for tokens sampled by an older policy: `ratio * (exp(-d) - 1 + d)` with d = logprob - reference and the ratio
 * trainer / sampler. The gradient also flows through the ratio. Value and gradient are unbiased for KL(policy ||
 * reference): at ratio 1 the gradient is d.
 *
 * Source: DeepSeek-V3.2 (arXiv 2512.02556); TRL's `use_bias_correction_kl`, slime's `--use-unbiased-kl`. Both
 * differences are clamped to +-20.
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
    const ratio = Math.exp(clampLogRatio(change))
    const d = clampLogRatio(distance)
    const k3 = Math.expm1(-d) + d
    value += weights[t] * ratio * k3
    const ofRatio = clampLogRatio(change) === change ? k3 : 0
    const ofDistance = d === distance ? -Math.expm1(-d) : 0
    gradient[t] = weights[t] * ratio * (ofRatio + ofDistance)
  }
  return { value, gradient, clipFraction: 0 }
}

/** Entropy in nats of each distribution, [tokens]. A logit of -Infinity means probability 0. */
export function entropies({ logits, vocabulary }: Pick<LogitInputs, 'logits' | 'vocabulary'>): Float32Array {
  const log = new Float64Array(vocabulary)
  return Float32Array.from({ length: logits.length / vocabulary }, (_, t) => {
    logSoftmaxRow(logits, t * vocabulary, log)
    return entropyOf(log)
  })
}

function entropyOf(log: Float64Array): number {
  let entropy = 0
  for (const value of log) if (value > -Infinity) entropy -= Math.exp(value) * value
  return entropy
}

/**
 * The exact entropy bonus over the vocabulary as a loss: `-coefficient * sum(weight * H)`, with d H / d logit = -p (log
 * p + H).
 *
 * Source: A3C (arXiv 1602.01783); TRL's `entropy_coef` (a mean over the tokens it acts on, whatever the aggregation of
 * the policy loss: give `token-mean` weights), verl's `entropy_coeff` (aggregated as the policy loss).
 */
export function entropyLoss(inputs: LogitInputs, { coefficient }: { coefficient: number }): LogitLossValue {
  const { logits, vocabulary, weights } = inputs
  const gradient = new Float32Array(logits.length)
  const log = new Float64Array(vocabulary)
  let value = 0
  for (let t = 0; t < weights.length; t++) {
    if (weights[t] === 0) continue
    logSoftmaxRow(logits, t * vocabulary, log)
    const entropy = entropyOf(log)
    const scale = coefficient * weights[t]
    value -= scale * entropy
    for (let v = 0; v < vocabulary; v++)
      if (log[v] > -Infinity) gradient[t * vocabulary + v] = scale * Math.exp(log[v]) * (log[v] + entropy)
  }
  return { value, gradient }
}

/**
 * The entropy bonus from the sampled tokens alone, for backends that return log-probabilities but no logits:
 * `sum(weight * logprob^2 / 2)`. On tokens that the policy sampled, the expected gradient is that of the negative
 * entropy, `E[log p d log p] = -dH`; a single token gives a noisy estimate. Multiply by the coefficient.
 *
 * It is the k2 estimate of the divergence from a uniform distribution (arXiv 2510.01555 on its gradient).
 */
export function sampledEntropyLoss(inputs: {
  logprobs: ArrayLike<number>
  weights: ArrayLike<number>
}): LossValue {
  const uniform = new Float32Array(inputs.logprobs.length)
  return klLoss({ ...inputs, referenceLogprobs: uniform }, 'k2')
}

/**
 * Sets the weight of all but the high-entropy tokens to 0. A token remains if its entropy is at least the quantile `1 -
 * share` over the counted tokens (linear between ranks, as `torch.quantile`). Ties at the quantile remain.
 *
 * Source: "Beyond the 80/20 Rule" (arXiv 2506.01939), share 0.2; TRL's `top_entropy_quantile`.
 */
export function highEntropyMask(
  entropy: ArrayLike<number>,
  weights: ArrayLike<number>,
  { share }: { share: number },
): Float32Array {
  const sorted = Array.from(weights).flatMap((weight, t) => (weight === 0 ? [] : [entropy[t]]))
  sorted.sort((a, b) => a - b)
  const rank = (1 - share) * (sorted.length - 1)
  const below = sorted[Math.floor(rank)]
  const bound = below + (rank - Math.floor(rank)) * (sorted[Math.ceil(rank)] - below)
  return Float32Array.from(weights, (weight, t) => (entropy[t] >= bound ? weight : 0))
}

/**
 * The next coefficient of an adaptive entropy bonus that keeps the entropy from falling below `target`. It rises by one
 * step while the entropy is at or below the target and falls by one step above it, within [least, most]. TRL applies
 * the bonus only in the first case.
 *
 * Source: Skywork Open Reasoner 1 (arXiv 2505.22312); TRL's `use_adaptive_entropy`.
 */
export function adaptEntropyCoefficient(
  coefficient: number,
  entropy: number,
  { target, step, least = 0, most = 1 }: { target: number; step: number; least?: number; most?: number },
): number {
  return entropy <= target ? Math.min(most, coefficient + step) : Math.max(least, coefficient - step)
}
