import type { CustomLoss } from '../backend/custom-loss.ts'
import type { Episode, TrainingSequence } from '../episode/types.ts'
import type { LossSettings, OptimReport, OptimStep } from '../model-backend.ts'
import type { ImportanceSettings } from './losses/corrections.ts'
import type { KlEstimator } from './losses/regularisers.ts'
import type { Aggregation } from './losses/tokens.ts'

/** Episodes of the same task under the same weights, with the reward of each; `null` = masked. */
export interface EpisodeGroup {
  episodes: readonly Episode[]
  rewards: readonly (number | null)[]
  /** Reward of the greedy episode of this task, if one was played (`greedyBaseline`); `null` = masked. */
  greedyReward?: number | null
}

/** Work for the trainer: one `forwardBackward` of these rows with this loss. */
export interface PolicyUpdate {
  sequences: TrainingSequence[]
  /** A loss that backends know, by its settings, or any function of log-probabilities. */
  loss: LossSettings | CustomLoss
  /** Metrics of the batch, for the record. */
  metrics: Record<string, number>
}

/** What to score: the tokens of a training sequence at the temperatures they were drawn at. */
export type ScoredSequence = Pick<TrainingSequence, 'tokens' | 'temperatures'>

/** What an algorithm can request besides the episodes. Each sequence yields one array of log-probabilities. */
export interface LearningContext {
  /** Log-probabilities under the frozen policy that RL started from; loaded at the first call. */
  reference(sequences: readonly ScoredSequence[]): Promise<Float32Array[]>
  /** Log-probabilities under the trained weights before this batch. */
  trainer(sequences: readonly ScoredSequence[]): Promise<Float32Array[]>
  /** Like `current`, with the entropy in nats of each token's distribution. Rejects if the backend cannot compute it. */
  entropies?(sequences: readonly ScoredSequence[]): Promise<Float32Array[]>
  /**
   * All groups of the batch, of which the given groups are a minibatch. Batch statistics are taken over these. All
   * minibatches of a batch share this array. Default: the given groups.
   */
  batch?: readonly EpisodeGroup[]
  /** Most tokens that the policy can write in an episode. Absent without such a limit. */
  tokenLimit?: number
  /** Demonstrations drawn for this batch, as many as the `plan` requests. */
  demonstrations: readonly Episode[]
  /** Numbers that the algorithm keeps between updates, such as adaptive coefficients; saved with the run. */
  memory?: Record<string, number>
  /**
   * Applies one optimiser step to another model that the algorithm trains (a critic), after its gradient was
   * accumulated. Uses the policy's optimiser settings. Absent if only the policy is trained.
   */
  move?: (model: { optimStep(step: OptimStep): Promise<OptimReport> }) => Promise<OptimReport>
}

/**
 * The interface between the training loop and a learning algorithm. The same groups, weights, demonstrations and memory
 * give the same update. An algorithm that requests nothing needs no context.
 */
export type Algorithm = (
  groups: readonly EpisodeGroup[],
  context: LearningContext,
) => PolicyUpdate | Promise<PolicyUpdate>

/** How the loop samples and uses batches for an algorithm. */
export interface BatchSettings {
  /** Splits the batch by groups into this many updates. Default: 1. */
  minibatches?: number
  /** Passes over the updates of a batch. All updates after the first are off-policy. Default: 1. */
  epochs?: number
  /**
   * How many times zero-variance groups are replaced by groups of other tasks before training uses what there is.
   * Default: 0.
   */
  resampling?: number
  /** Whether to also play every task once greedily. Default: false. */
  greedyBaseline?: boolean
  /** Demonstrations passed to each update. Default: 0. */
  demonstrations?: number
  /**
   * Number of optimiser steps between sampling a batch and learning from it, as if sampler and trainer worked
   * concurrently. Default: 0.
   */
  maxStaleness?: number
  /**
   * Whether sampler and trainer do work concurrently: frozen weights sample a batch while earlier batches are learned.
   * Needs `maxStaleness` of at least 1, and gives bit for bit the same batches as without concurrency. See
   * `createBatchQueue` for what an interruption may change. Default: false.
   */
  overlap?: boolean
}

/**
 * Advantages of an episode: one number for all of it, or one entry per element of its `samples`. An entry is a number
 * for the turn, or one number per token of its output node; tokens that the policy did not choose are ignored.
 */
export type EpisodeAdvantage = number | readonly (number | ArrayLike<number>)[]

/**
 * A custom advantage function, for instance from a critic or a judge of steps. Takes the groups with their shaped
 * rewards (`null` = masked) and returns an entry for every episode of every group. Entries of masked episodes are
 * ignored. Metrics are recorded.
 */
export type AdvantageFunction = (
  groups: readonly EpisodeGroup[],
  context: LearningContext,
) => AdvantageReport | Promise<AdvantageReport>

/** What an `AdvantageFunction` returns: `turnAdvantages[group][member]`, in the order of the groups, and metrics to record. */
export interface AdvantageReport {
  turnAdvantages: readonly (readonly EpisodeAdvantage[])[]
  metrics?: Record<string, number>
}

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
