import type { CustomLoss } from '../custom-loss.ts'
import type { LossSettings } from '../../model-backend.ts'

/** Loss and slope (by the log-probability) of one token, before its rl weight. */
function policyLoss(
  { name, clipLow = 0.2, clipHigh = 0.2 }: LossSettings,
  ratio: number,
  advantage: number,
  logprob: number,
): { loss: number; derivative: number; clipped: boolean } {
  const plain = ratio * advantage
  if (name === 'cispo') {
    const weight = Math.min(ratio, 1 + clipHigh) * advantage
    return { loss: -weight * logprob, derivative: -weight, clipped: ratio > 1 + clipHigh }
  }
  const bounded = Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh) * advantage
  if (name === 'ppo' && bounded < plain) return { loss: -bounded, derivative: 0, clipped: true }
  return { loss: -plain, derivative: -plain, clipped: false }
}

/**
 * The same losses as `tracedLoss` with imitation and divergence mixed in, as a function of log-probabilities: for servers
 * that have no such mixture in one pass. `ce`: -logprob; `kl`: r - 1 - log r with r = sampled / trained probability.
 */
export function mixedLoss(settings: LossSettings): CustomLoss {
  return (logprobs, sequences) => {
    let total = 0
    let policyTokens = 0
    let clipped = 0
    const gradients = sequences.map(({ tokens, logprobs: sampled, advantages, weights }, s) => {
      const derivatives = new Float32Array(tokens.length)
      for (let t = 1; t < tokens.length; t++) {
        const logprob = logprobs[s][t]
        const difference = sampled[t] - logprob
        const inverse = weights.kl[t] === 0 ? 1 : Math.exp(difference)
        let derivative = -weights.ce[t] + weights.kl[t] * (1 - inverse)
        total += -weights.ce[t] * logprob + weights.kl[t] * (inverse - 1 - difference)
        if (weights.rl[t] !== 0) {
          const policy = policyLoss(settings, Math.exp(-difference), advantages[t], logprob)
          total += weights.rl[t] * policy.loss
          derivative += weights.rl[t] * policy.derivative
          policyTokens++
          if (policy.clipped) clipped++
        }
        derivatives[t] = derivative
      }
      return derivatives
    })
    return { loss: total, gradients, metrics: { clipFraction: clipped / Math.max(1, policyTokens) } }
  }
}
