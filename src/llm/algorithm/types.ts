import type { Episode, TrainingSequence } from '../episode/types.ts'
import type { LossSettings, OptimReport, OptimStep } from '../model-backend.ts'
import type { CustomLoss } from '../backend/custom-loss.ts'

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

export interface AdvantageReport {
  turnAdvantages: readonly (readonly EpisodeAdvantage[])[]
  metrics?: Record<string, number>
}
