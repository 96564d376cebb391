import type { KlEstimator } from '../losses/regularisers.ts'
import type { GroupRewards } from './group.ts'

/**
 * Token rewards that penalise divergence: `-coefficient * k(logprob - reference)`, with the outcome added to the last
 * one. The estimators are those of `klLoss`. No gradient flows through rewards, so use k1: its policy gradient is that
 * of KL(policy || reference).
 *
 * Sources: InstructGPT (arXiv 2203.02155); verl's `kl_penalty` in the reward, TRL's PPO and RLOO (k1).
 *
 * @param sequence.logprobs of the trained tokens of one sequence under the policy that sampled them.
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
    // As in verl, the difference is clamped to 20 nats.
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
 * The next coefficient of an adaptive divergence penalty that keeps the divergence near `target`. Multiplies the
 * coefficient by `1 + clip(measured / target - 1, -0.2, 0.2) * steps / horizon`.
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

/**
 * The penalty of an overlong answer: 0 up to `limit - cache` tokens, then falling linearly to -1 at `limit`, and -1
 * beyond. Add it to the reward.
 *
 * Source: DAPO (arXiv 2503.14476), eq. 13; TRL's `get_soft_overlong_punishment`.
 */
export function softOverlongPenalty(
  length: number,
  { limit, cache }: { limit: number; cache: number },
): number {
  const free = limit - cache
  if (length <= free) return 0
  return length <= limit ? (free - length) / cache : -1
}

/**
 * Masks the rewards of cut-off answers (`null`). It is unknown whether they would have been right, and a reward of -1
 * would penalise long reasoning itself.
 *
 * Source: DAPO (arXiv 2503.14476), overlong filtering; TRL's `mask_truncated_completions`.
 */
export function maskOverlong(
  rewards: GroupRewards,
  truncated: ArrayLike<boolean | number>,
): (number | null)[] {
  return rewards.map((reward, i) => (truncated[i] ? null : reward))
}

/**
 * Rewards for short answers within a group: `0.5 - (length - min) / (max - min)` for right answers, the same but at
 * most 0 for wrong ones, and 0 for all if the lengths are equal. Scale and add it to the reward. Masked members
 * (`null`) get 0 and do not count.
 *
 * Source: Kimi k1.5 (arXiv 2501.12599).
 *
 * @param right whether each answer is right; same length as `lengths`.
 */
export function kimiLengthRewards(lengths: ArrayLike<number>, right: readonly (boolean | null)[]): number[] {
  const counted = right.flatMap((known, i) => (known === null ? [] : [lengths[i]]))
  const least = Math.min(...counted)
  const range = Math.max(...counted) - least
  return right.map((known, i) => {
    if (known === null || range === 0) return 0
    const reward = 0.5 - (lengths[i] - least) / range
    return known ? reward : Math.min(0, reward)
  })
}

/**
 * Rewards minus a length penalty that grows with the mean reward of the group: `r - weight * mean(r) * length / max`. A
 * group that solves nothing has no penalty. Use it with rewards of at least 0: a negative mean would reward length.
 *
 * Source: prime-rl's `length_penalty` of its `grpo` (there also over input tokens and turns; call it once for each).
 */
export function relativeLengthPenalty(
  rewards: GroupRewards,
  lengths: ArrayLike<number>,
  { weight }: { weight: number },
): (number | null)[] {
  const judged = rewards.filter((reward) => reward !== null)
  const mean = judged.reduce((sum, reward) => sum + reward, 0) / Math.max(1, judged.length)
  const longest = rewards.reduce<number>((most, r, i) => (r === null ? most : Math.max(most, lengths[i])), 0)
  if (longest === 0) return [...rewards]
  return rewards.map((reward, i) =>
    reward === null ? null : reward - (weight * mean * lengths[i]) / longest,
  )
}

/**
 * The penalty of an answer that repeats itself: `-(1 - distinct / all) * most` over its n-grams of tokens; 0 for
 * answers shorter than one n-gram. Add it to the reward.
 *
 * Source: "Demystifying Long Chain-of-Thought Reasoning" (arXiv 2502.03373), appendix C.2; TRL's
 * `get_repetition_penalty_reward`, whose `max_penalty` is `-most`. Open-R1 counts words instead of tokens.
 *
 * @param settings n, default: 3; most, the penalty of pure repetition, default: 1.
 */
export function repetitionPenalty(
  tokens: ArrayLike<number>,
  settings: { n?: number; most?: number } = {},
): number {
  const { n = 3, most = 1 } = settings
  const all = tokens.length - n + 1
  if (all < 1) return 0
  const distinct = new Set<string>()
  for (let t = 0; t < all; t++) distinct.add(Array.from({ length: n }, (_, i) => tokens[t + i]).join())
  return distinct.size === all ? 0 : -(1 - distinct.size / all) * most
}
