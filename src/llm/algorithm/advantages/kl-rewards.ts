import type { KlEstimator } from '../losses/kl.ts'

/**
 * The divergence in the reward instead of the loss: rewards of tokens, `-coefficient * k(logprob - reference)`, with
 * the outcome added to the last one. The estimators are those of `klLoss`; no gradient flows through them, and k1 is
 * then the right one: its policy gradient is that of KL(policy || reference).
 *
 * Sources: InstructGPT (arXiv 2203.02155); verl's `kl_penalty` in the reward, TRL's PPO and RLOO (k1).
 *
 * @param logprobs of the trained tokens of one sequence under the policy that sampled them.
 * @returns rewards of the tokens; empty for no tokens.
 */
export function klRewards(
  sequence: { logprobs: ArrayLike<number>; referenceLogprobs: ArrayLike<number>; outcome: number },
  settings: { coefficient: number; estimator?: KlEstimator },
): Float32Array {
  const { logprobs, referenceLogprobs, outcome } = sequence
  const rewards = Float32Array.from({ length: logprobs.length }, (_, t) => {
    const d = logprobs[t] - referenceLogprobs[t]
    if (settings.estimator === 'k2') return -settings.coefficient * (d * d) * 0.5
    // As in verl: beyond 20 nats the exponential is held.
    if (settings.estimator === 'k3') return -settings.coefficient * (Math.expm1(clamp(-d)) + clamp(d))
    return -settings.coefficient * d
  })
  if (rewards.length > 0) rewards[rewards.length - 1] += outcome
  return rewards
}

function clamp(difference: number): number {
  return Math.min(20, Math.max(-20, difference))
}

/**
 * The next coefficient of a divergence that is to stay near `target`: multiplied by
 * `1 + clip(measured / target - 1, -0.2, 0.2) * steps / horizon`.
 *
 * Source: Ziegler et al. (arXiv 1909.08593), section 2.2; verl's adaptive controller.
 */
export function adaptKlCoefficient(
  coefficient: number,
  measured: number,
  { target, horizon, steps }: { target: number; horizon: number; steps: number },
): number {
  const error = Math.min(0.2, Math.max(-0.2, measured / target - 1))
  return coefficient * (1 + (error * steps) / horizon)
}
