import { defineLoss } from '../define.ts'
import { countedSequences, type LossValue, type SequenceLossInputs } from './tokens.ts'

/** Settings of `kimiLoss`. */
export interface KimiSettings {
  /** Strength of the penalty for moving away from the sampler, at least 0. */
  tau: number
  /** Whether the squared log-ratio is that of the sequence (default, the paper) or of each token (prime-rl's `kl_tau`). */
  level?: 'sequence' | 'token'
}

/**
 * The policy gradient with a squared log-ratio instead of a clip. A sequence with log-ratio L (the sum over its tokens)
 * has loss `-A L + tau / 2 L^2`, so the gradient is that of the paper, `-(r - mean r) grad log p + tau / 2 grad L^2`.
 * Use it with advantages that are only centred (`grpoAdvantages` with `std: false`).
 *
 * Weights are per token: the first term uses each token's weight, the second the mean weight of the sequence. At level
 * `token` the loss of a token with log-ratio l is `-A l + tau / 2 l^2`.
 *
 * Source: Kimi k1.5 (arXiv 2501.12599), eq. 3; K2 (arXiv 2507.20534) squares both terms together, same gradient up to a
 * factor; Tinker's `dro` is level `token`. No exponential is taken, so nothing is clamped.
 */
export function kimiLoss(inputs: SequenceLossInputs, { tau, level = 'sequence' }: KimiSettings): LossValue {
  const { logprobs, samplerLogprobs, advantages, weights } = inputs
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  for (const { from, to, count, logRatio } of countedSequences(inputs)) {
    let total = 0
    for (let t = from; t < to; t++) total += weights[t]
    const pull = level === 'sequence' ? (tau * total * logRatio) / count : 0
    value += (pull * logRatio) / 2
    for (let t = from; t < to; t++) {
      if (weights[t] === 0) continue
      const difference = logprobs[t] - samplerLogprobs[t]
      const own = level === 'token' ? tau * difference : 0
      value += weights[t] * (-advantages[t] + own / 2) * difference
      gradient[t] = weights[t] * (-advantages[t] + own) + pull
    }
  }
  return { value, gradient, clipFraction: 0 }
}

export const kimiDefinition = defineLoss({
  name: 'kimi',
  about: 'a squared log-ratio in place of the clip',
  formula: '-A l + τ / 2 (Σ l)²',
  source: ['2501.12599'],
  settings: {
    tau: { type: 'number', minimum: 0 },
    level: { oneOf: ['sequence', 'token'], default: 'sequence' },
  },
  compute: kimiLoss,
  movesWithoutAdvantage: true,
  cases: [{ settings: { tau: 0.1 } }, { settings: { tau: 0.4, level: 'token' } }],
  preset: {
    settings: {
      advantage: { name: 'grpo', std: false },
      loss: { name: 'kimi', tau: 0.1 },
      aggregation: { mode: 'constant', length: 1 },
    },
  },
})
