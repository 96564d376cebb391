import type { MetricsRecord } from '../../runs/run-folder.ts'
import type { Actor, Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { ChatModel } from '../agent/chat-format/open-format.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { Algorithm, BatchSettings, EpisodeGroup } from '../algorithm/types.ts'
import type { Episode } from '../episode/types.ts'
import type { Estimate, MeanEstimate } from '../../statistics/statistics.ts'
import type { FrozenSampler, ModelBackend } from '../model-backend.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { Reward } from '../reward/reward.ts'
import type { CallCounts } from '../rollout/collect.ts'
import type { OptimiserSettings } from './kernel.ts'

/** A trainable model that can be disposed of. */
export interface TrainableBackend extends ModelBackend {
  /** Number of updates of its weights. */
  readonly weightVersion?: number
  /** Of the model, where it is known. No episode is longer than its window. */
  readonly config?: { readonly max_position_embeddings: number }
  /** A sampler with the present weights, which can run while the model trains. */
  freeze?(): Promise<FrozenSampler>
  /** Clears cached prompts, so that earlier samples cannot influence later ones. */
  clearCache?(): void
  /** Resets the optimiser's moments, since another objective has gradients of another scale. */
  resetOptimizer?(): void
  dispose?(): Promise<void> | void
}

/** A budget of computed tokens for a phase. It replaces the number of steps, the steps between validations, and early stopping. */
export interface TokenBudget {
  /**
   * Ends the phase with the step that reaches this number. A token counts once where an episode was played, validations included,
   * or where a model only scores it, and three times where the model was trained on it, since a backward pass takes twice as
   * long as a forward pass. Demonstrations of an expert cost nothing to play.
   */
  tokens: number
  /** Validations, evenly over the budget: the first before any step, the last after all. 2 or more. */
  validations: number
}

export interface SupervisedSettings extends OptimiserSettings {
  /** Maximum passes over the demonstrations. */
  epochs: number
  /** Demonstrations per step. */
  batch: number
  /** Steps between validations. */
  validateEvery: number
  /** Stops after this many validations without a better score. */
  patience: number
  /** Default: none, the phase ends by `epochs` and `patience`. */
  budget?: TokenBudget
  /**
   * Trains on no demonstration twice: the expert plays new training tasks for every batch. As many are played as the plan's
   * `demonstrations` and `epochs`, or the budget, ask for. Default: false.
   */
  fresh?: boolean
  /** Share of each kind of task in a batch, relative to the others. Default: as many as there are demonstrations; if fresh, equal shares. */
  kindWeights?: Readonly<Record<string, number>>
}

export interface ReinforcementSettings extends OptimiserSettings, BatchSettings {
  steps: number
  /** Tasks per step, and episodes per task. */
  groups: number
  groupSize: number
  temperature: number
  /** Steps between validations; 0: never. */
  validateEvery: number
  /**
   * Final weights of RL: `best` for those of the highest success in validation, the initial ones among them (the latest if
   * tied), or `last`. For `best`, the tasks are others than those that chose the warm start, if the split has twice as many as
   * are validated. Default: `last`.
   */
  keep?: 'best' | 'last'
  /** Groups per step whose episodes are stored in `episodes.jsonl`. Default: 2. */
  recordGroups?: number
  /** Default: none, RL ends by `steps`. It does not go together with a limit of time. */
  budget?: TokenBudget
  /** Share of each kind of task among those that are drawn, relative to the others. Default: by success so far, most where it is mixed. */
  kindWeights?: Readonly<Record<string, number>>
}

/**
 * The settings of `train`: demonstrations, warm start, reinforcement learning, evaluations and limits.
 * `smallModelPlan` has values for a small model.
 */
export interface TrainingPlan {
  /** Demonstrations per kind of task. Missing kinds have none. */
  demonstrations: Readonly<Record<string, number>>
  warmStart: SupervisedSettings
  reinforcement: ReinforcementSettings
  /** Continued supervision, the control arm of RL. It runs as long as RL took. */
  supervised: Omit<SupervisedSettings, 'epochs' | 'budget' | 'fresh' | 'kindWeights'>
  /** Tasks per evaluation. */
  tasks: { validation: number; test: number; unseenParaphrases: number }
  /** Steps between checkpoints. */
  checkpointEvery: number
  maxTokensPerTurn: number
  limits: EpisodeLimits
}

/** The environment, tasks, model and algorithm of a job. The training loop itself is independent of them. */
export interface TrainJobOptions<T extends Task = Task> {
  /** The command line, for the record. */
  command: string
  /** The run folder. `resume` continues the run in it. */
  folder: { path?: string; root?: string; id?: string }
  resume?: boolean
  seed: number
  environment: ToolEnvironment<T>
  tasks: TaskSource<T>
  /** Opens the base model. */
  backend: () => Promise<TrainableBackend>
  tokenizer: Tokenizer
  reward: Reward
  algorithm: Algorithm
  /** For the record. */
  algorithmName?: string
  plan: TrainingPlan
  /**
   * Seconds until the whole run should be over. RL then makes fewer steps than planned if they would take longer. The warm start is never cut,
   * and RL makes at least five steps. Default: no limit.
   */
  secondsLeft?: () => number
  /** For a public checkpoint: its template and window. Default: one of Agoge's own models. */
  chat?: ChatModel
  /** Makes the policy over a backend. Default: the local actor, or the chat actor if `chat` is given. */
  actor?: (
    backend: TrainableBackend,
    options: { temperature: number; seed: number; maxTokensPerTurn: number },
  ) => Actor
  compareSupervised?: boolean
  /** For a user's agent: plays its episodes. The job then has no warm start and uses only the name of `environment`. */
  program?: ProgramRollout<T>
  /** Stored in config.json beside the plan. Must not contain secrets. */
  config?: Record<string, unknown>
  /** Renders report.html of the finished run. Default: `renderReport`. */
  report?: (input: ReportInput) => string
}

/** Plays a user's program instead of the turn loop. */
export interface ProgramRollout<T extends Task> {
  /** The tasks of an RL step. */
  draw(step: number): BatchTasks<T>
  /** Plays each task `groupSize` times with the weights of `backend`. Temperature 0 is greedy. */
  play(settings: {
    backend: TrainableBackend
    name: string
    tasks: readonly T[]
    groupSize: number
    temperature: number
    signal?: AbortSignal
  }): Promise<Episode[][]>
  /** Episodes for algorithms that mix some in. */
  demonstrations: readonly Episode[]
  /** Opens a second model with the weights of this folder. */
  reference(folder: string): Promise<TrainableBackend>
  /** Called with every batch after its update. */
  onGroups?(step: number, groups: readonly EpisodeGroup[], metrics: Record<string, number>): void
}

/** The groups of a batch. */
export interface BatchTasks<T extends Task> {
  first: T[]
  /** Groups that replaced zero-variance groups. */
  more(count: number): T[]
}

export type StageName = 'base' | 'warm-start' | 'supervised' | 'rl'

/** The results of a policy on the held-out tasks. */
export interface StageSummary {
  name: StageName
  success: Estimate
  kinds: Record<string, number>
  kindEstimates: Record<string, Estimate>
  /** Mean number of calls per episode. */
  calls: number
  /** Share of invalid calls. */
  invalidCalls: number
  masked: number
  /** Number of masked episodes for each reason; absent in runs of earlier versions. */
  maskedReasons?: Record<string, number>
  /** Mean number of sampled tokens per episode. */
  tokens: number
  /** Wall-clock seconds of the training before this stage (0 for the base model), and of the evaluation. */
  seconds: number
  evaluationSeconds: number
}

/** A message of a sample episode, for display. */
export interface SampleMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  calls?: { name: string; arguments: Record<string, unknown> }[]
  isError?: boolean
  invalid?: string
}

/** One held-out task, before and after. */
export interface SampleEpisode {
  task: string
  kind: string
  prompt: string
  before: SampleMessage[]
  after: SampleMessage[]
}

/** Dropped tasks, and kinds of task without a successful demonstration; with the number of lost demonstrations and the reasons. */
export interface DroppedTasks {
  tasks: string[]
  kinds: string[]
  demonstrations: number
  reasons: Record<string, number>
}

/** Statistics of reinforcement learning over all its steps. */
export interface ReinforcementRecord {
  steps: number
  /** Groups that were trained on, and how many of them had reward variance. */
  groups: number
  groupsWithSignal: number
  /** Judged episodes, and how many of them failed. */
  judged: number
  failed: number
}

/** `summary.json`. */
export interface TrainingSummary {
  schema: 1
  command: string
  /** The name of the algorithm; absent if it has none, and in runs of earlier versions. */
  algorithm?: string | undefined
  machine: { platform: string; cpu: string; cores: number; memoryGiB: number; node: string }
  seconds: number
  seed: number
  stages: StageSummary[]
  /** RL minus continued supervision, paired by task; only if they were compared. */
  gain?: MeanEstimate
  /** The trained policy on requests worded as no request of training. */
  unseenParaphrases?: {
    success: Estimate
    kinds: Record<string, number>
    /** By what is new in them (`context.unseen` of the task), if their tasks say so. */
    groups?: Record<string, Estimate>
  }
  demonstrations: Record<string, number>
  /**
   * Tools that failed in demonstrations, with counts, and the tasks dropped for that. Only if the environment verifies its
   * tasks.
   */
  unstableTools?: Record<string, CallCounts> | undefined
  dropped?: DroppedTasks | undefined
  /** Absent in runs of earlier versions. */
  reinforcement?: ReinforcementRecord | undefined
  /** Warnings about what did not go well and what to do, as plain sentences; absent if there are none. */
  remarks?: string[] | undefined
  /** The reasons of `cost.masked`, with counts. */
  maskedReasons?: Record<string, number> | undefined
  /** Of the whole job, including evaluations. */
  cost: {
    seconds: number
    sampledTokens: number
    /** As `TokenBudget` counts them. Absent in runs of earlier versions. */
    computedTokens?: number
    calls: number
    episodes: number
    masked: number
  }
  samples: SampleEpisode[]
  model: string
}

export interface ReportInput {
  summary: TrainingSummary
  metrics: MetricsRecord[]
  config: Record<string, unknown>
}
