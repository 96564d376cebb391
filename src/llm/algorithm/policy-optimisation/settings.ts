import type { Aggregation } from '../losses/tokens.ts'
import type { ImportanceSettings } from '../losses/corrections.ts'
import type { KlEstimator } from '../losses/regularisers.ts'

/** Changes to the reward of an episode before advantages are computed. Lengths are in tokens of the policy. */
export interface RewardShaping {
  /** Masks episodes that were cut off, so that they train nothing. */
  maskOverlong?: boolean
  /**
   * DAPO's soft overlong punishment (eq. 13): falls from 0 to -1 over the last `cache` tokens before `limit`, times
   * `weight` (default: 1). Default `limit`: the most tokens that the policy can write in an episode (`tokenLimit` of
   * the context). Default `cache`: a fifth of the limit, as DAPO's 4096 of 20,480.
   */
  softOverlong?: { limit?: number; cache?: number; weight?: number }
  /** Weight of `kimiLengthRewards`. */
  brevity?: number
  /** Weight of `relativeLengthPenalty`. */
  relativeLength?: number
  repetition?: { n?: number; most?: number }
}

/** The divergence from the policy that RL started from. */
export type KlSettings = (
  | { place: 'loss'; estimator: KlEstimator | 'unbiased-k3' }
  | { place: 'reward'; estimator: KlEstimator }
) & {
  coefficient: number
  /**
   * Makes the coefficient adaptive, starting at `coefficient` (`adaptKlCoefficient`). `target` is in nats per token, a
   * mean over tokens that the policy chose. The coefficient changes by at most a fifth per `horizon` episodes.
   */
  adapt?: { target: number; horizon: number }
}

/**
 * An adaptive entropy bonus that keeps the entropy from falling below `target`, in nats per token
 * (`adaptEntropyCoefficient`). The coefficient rises by `step` per update while the entropy is at or below the target.
 * Above the target it falls by `step`, and the bonus is off.
 */
export interface AdaptiveEntropy {
  coefficient: number
  target: number
  step: number
  /** Default: 0. */
  least?: number
  /** Default: 1. */
  most?: number
}

/** Settings of policy optimisation apart from advantages and loss. */
export interface BaseSettings {
  aggregation: Aggregation
  shaping?: RewardShaping
  kl?: KlSettings
  /**
   * Coefficient of the entropy bonus estimated from the sampled tokens (`sampledEntropyLoss`). Noisy; works on any
   * backend.
   */
  entropy?: number | AdaptiveEntropy
  /**
   * Coefficient of the exact entropy bonus over every token that the policy chose, aggregated like the loss (verl's
   * `entropy_coeff`). Local backends only.
   */
  exactEntropy?: number | AdaptiveEntropy
  /**
   * Trains only this fraction (0 to 1) of the tokens that the policy chose: those of highest entropy over all episodes
   * of the update (`highEntropyMask`). Applies to advantages and bonuses. Costs a forward pass. Local backends only.
   */
  entropyShare?: number
  /**
   * Corrections for a sampler that differs from the trainer, applied in order. The loss then uses the trainer's
   * log-probabilities from before the batch in place of the sampler's (decoupled PPO, arXiv 2505.24298).
   */
  corrections?: readonly ImportanceSettings[]
  /** Threshold of `offPolicyMask`. Always compared with the sampler's log-probabilities, also with `corrections`. */
  offPolicyMask?: number
  /** Weight of the demonstrations, 0 to 1: `(1 - share) * rl + share * cross-entropy`. */
  imitation?: number
  /** Whether to weight demonstrated tokens by p (1 - p) of the policy (`highEntropyWeights`). Default: false. */
  sftHighEntropy?: boolean
}
