import type { Aggregation } from '../losses/tokens.ts'
import type { ImportanceSettings } from '../losses/corrections.ts'
import type { KlEstimator } from '../losses/regularisers.ts'

/** What is added to the reward of an episode, or masks it, before advantages. Lengths are in tokens of the policy. */
export interface RewardShaping {
  /** Episodes that were cut off train nothing. */
  maskOverlong?: boolean
  /**
   * 0 to -1 over the last `cache` tokens before `limit`, times `weight` (default 1): DAPO's soft overlong punishment, eq. 13. Default `limit`: what
   * the policy can write in an episode (`tokenLimit` of the context); default `cache`: a fifth of the limit, as DAPO's 4096 of 20,480.
   */
  softOverlong?: { limit?: number; cache?: number; weight?: number }
  /** Weight of `kimiLengthRewards`. */
  brevity?: number
  /** Weight of `relativeLengthPenalty`. */
  relativeLength?: number
  repetition?: { n?: number; most?: number }
}

/** The divergence from the policy that RL began from. */
export type KlSettings = (
  | { place: 'loss'; estimator: KlEstimator | 'unbiased-k3' }
  | { place: 'reward'; estimator: KlEstimator }
) & {
  coefficient: number
  /**
   * The coefficient begins there and follows the divergence (`adaptKlCoefficient`): `target` in nats a token, a mean over those that the
   * policy chose; it changes by at most a fifth in `horizon` episodes.
   */
  adapt?: { target: number; horizon: number }
}

/**
 * A bonus for entropy that keeps it from falling below `target`, in nats a token (`adaptEntropyCoefficient`): its coefficient goes up by
 * `step` an update where the entropy is not above the target, and down where it is, when the bonus does not count.
 */
export interface AdaptiveEntropy {
  coefficient: number
  target: number
  step: number
  /** Default 0. */
  least?: number
  /** Default 1. */
  most?: number
}

/** The settings of policy optimisation besides its advantages and its loss. */
export interface BaseSettings {
  aggregation: Aggregation
  shaping?: RewardShaping
  kl?: KlSettings
  /** Coefficient of the bonus for entropy, estimated from the sampled tokens (`sampledEntropyLoss`): on any backend, and noisy. */
  entropy?: number | AdaptiveEntropy
  /**
   * Coefficient of the bonus for the exact entropy of every token that the policy chose, aggregated as the loss (verl's `entropy_coeff`);
   * on backends in this process only.
   */
  exactEntropy?: number | AdaptiveEntropy
  /**
   * Only so many of the tokens that the policy chose, 0 to 1, move it, by advantages and bonuses: those of highest entropy, over all
   * episodes of the update (`highEntropyMask`). It costs a forward pass; backends in this process can tell.
   */
  entropyShare?: number
  /**
   * Corrections for a sampler that is not the trainer, one after another. The trainer's own log-probabilities before the batch
   * then take the sampler's place in the loss (decoupled PPO, arXiv 2505.24298).
   */
  corrections?: readonly ImportanceSettings[]
  /** Threshold of `offPolicyMask`, measured against the log-probabilities of the sampler, with `corrections` too. */
  offPolicyMask?: number
  /** Share of imitation, 0 to 1: `(1 - share) * rl + share * cross-entropy` of the demonstrations. */
  imitation?: number
  /** Whether demonstrated tokens count by p (1 - p) of the policy (`highEntropyWeights`). Default false. */
  sftHighEntropy?: boolean
}
