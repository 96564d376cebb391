import type { Episode, TrainingSequence } from '../episode/types.ts'
import type { LossSettings, OptimReport, OptimStep } from '../model-backend.ts'
import type { CustomLoss } from '../backend/custom-loss.ts'

/** Episodes of the same task under the same weights, with what the reward said of each; `null` = masked. */
export interface EpisodeGroup {
  episodes: readonly Episode[]
  rewards: readonly (number | null)[]
  /** What the same policy got on this task greedily, where it was played (`greedyBaseline`); `null` = masked. */
  greedyReward?: number | null
}

/** What the trainer is to do: one `forwardBackward` of these rows with this loss. */
export interface PolicyUpdate {
  sequences: TrainingSequence[]
  /** One that backends know, by its settings, or any function of log-probabilities. */
  loss: LossSettings | CustomLoss
  /** Metrics of the batch, for the record. */
  metrics: Record<string, number>
}

/** What is scored: the tokens of a training sequence at the temperatures they were drawn at. */
export type ScoredSequence = Pick<TrainingSequence, 'tokens' | 'temperatures'>

/** What an algorithm may ask for besides the episodes. Sequences give one array of log-probabilities each. */
export interface LearningContext {
  /** Under the frozen policy that RL began from; loaded at the first call. */
  reference(sequences: readonly ScoredSequence[]): Promise<Float32Array[]>
  /** Under the weights that are trained, as they are before this batch. */
  trainer(sequences: readonly ScoredSequence[]): Promise<Float32Array[]>
  /** The same with entropies of the tokens' distributions, in nats; rejects where the backend cannot tell. */
  entropies?(sequences: readonly ScoredSequence[]): Promise<Float32Array[]>
  /**
   * All groups of the batch, of which the given ones are a minibatch: what statistics of the batch are taken over. All minibatches of a batch
   * share this array. Default: the given groups.
   */
  batch?: readonly EpisodeGroup[]
  /** Most tokens that the policy can write in an episode, where there is such a limit. */
  tokenLimit?: number
  /** Drawn for this batch, where the plan of training says how many. */
  demonstrations: readonly Episode[]
  /** Numbers that the algorithm keeps from update to update, such as coefficients that adapt; saved with the run. */
  memory?: Record<string, number>
  /**
   * One optimiser step, at the settings of the policy, of a model that the algorithm trains beside it (a critic), whose gradient is there
   * already. Absent where only the policy is trained.
   */
  move?: (model: { optimStep(step: OptimStep): Promise<OptimReport> }) => Promise<OptimReport>
}

/**
 * Everything the loop knows of a learning algorithm. The same groups, weights, demonstrations and memory give the same update. What asks for
 * nothing needs no context.
 */
export type Algorithm = (
  groups: readonly EpisodeGroup[],
  context: LearningContext,
) => PolicyUpdate | Promise<PolicyUpdate>

/** How an algorithm wants its batches sampled and used; the loop does it. */
export interface BatchSettings {
  /** The batch is split by groups into so many updates. Default 1. */
  minibatches?: number
  /** Passes over the updates of a batch; those after the first update are off-policy. Default 1. */
  epochs?: number
  /** How often groups without signal are replaced by groups of other tasks before what there is must do. Default 0. */
  resampling?: number
  /** Whether every task is also played once greedily. Default false. */
  greedyBaseline?: boolean
  /** Demonstrations handed to each update. Default 0. */
  demonstrations?: number
  /**
   * Batches are sampled so many steps before they are learnt from: those in between have changed the weights, as if
   * sampler and trainer worked at the same time. Default 0.
   */
  maxStaleness?: number
  /**
   * Whether they do work at the same time: a batch is sampled by frozen weights while the steps before it are learnt. Wants `maxStaleness` of 1 or
   * more, whose batches it has, bit for bit; see `createBatchQueue` for what an interruption may change. Default false.
   */
  overlap?: boolean
}

/**
 * What an episode is worth: one advantage for all of it, or an entry for each of its `samples`, a number for the turn or one number for
 * each token of its output node (those that the policy did not choose are not read).
 */
export type EpisodeAdvantage = number | readonly (number | ArrayLike<number>)[]

/**
 * Advantages of your own: of a critic, a judge of steps, or what else. It is given the groups with their rewards as shaped (`null` =
 * masked) and gives an entry for every episode of every group; those of masked ones are not read. Metrics go to the record.
 */
export type AdvantageFunction = (
  groups: readonly EpisodeGroup[],
  context: LearningContext,
) => AdvantageReport | Promise<AdvantageReport>

export interface AdvantageReport {
  turnAdvantages: readonly (readonly EpisodeAdvantage[])[]
  metrics?: Record<string, number>
}
