import type { MetricsRecord } from '../../runs/run-folder.ts'
import type { Actor, Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { ChatModel } from '../agent/chat-format/index.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { Algorithm, BatchSettings, EpisodeGroup } from '../algorithm/types.ts'
import type { Episode } from '../episode/types.ts'
import type { Estimate, MeanEstimate } from '../../statistics/intervals.ts'
import type { FrozenSampler, ModelBackend } from '../model-backend.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { Reward } from '../reward/reward.ts'
import type { CallCounts } from '../rollout/collect.ts'
import type { OptimiserSettings } from './kernel.ts'

/** A model that can be trained and let go of. */
export interface TrainableBackend extends ModelBackend {
  /** Updates that its weights have behind them. */
  readonly weightVersion?: number
  /** A sampler of the weights as they are now, to be used while it trains. */
  freeze?(): Promise<FrozenSampler>
  /** Forgets cached prompts, so that what is sampled next does not depend on what was sampled before. */
  clearCache?(): void
  /** Forgets the optimiser's moments: another objective has gradients of another size. */
  resetOptimizer?(): void
  dispose?(): Promise<void> | void
}

export interface SupervisedSettings extends OptimiserSettings {
  /** Passes over the demonstrations, at most. */
  epochs: number
  /** Demonstrations in a step. */
  batch: number
  /** Steps between validations. */
  validateEvery: number
  /** Validations without a better score after which it stops. */
  patience: number
}

export interface ReinforcementSettings extends OptimiserSettings, BatchSettings {
  steps: number
  /** Tasks in a step, and episodes of each. */
  groups: number
  groupSize: number
  temperature: number
  /** Steps between validations; 0 = never. */
  validateEvery: number
  /** Whose weights RL ends with: those of the highest success in validation, the earliest of equals, or the last. Default `last`. */
  keep?: 'best' | 'last'
  /** Groups of each step whose episodes are kept in `episodes.jsonl`. Default 2. */
  recordGroups?: number
}

export interface TrainingPlan {
  /** Demonstrations for each family; families left out have none. */
  demonstrations: Readonly<Record<string, number>>
  warmStart: SupervisedSettings
  reinforcement: ReinforcementSettings
  /** Continued supervision, the arm that RL is compared with; it runs as long as RL took. */
  supervised: Omit<SupervisedSettings, 'epochs'>
  /** Tasks of each evaluation. */
  tasks: { validation: number; test: number; unseenParaphrases: number }
  /** Steps between checkpoints. */
  checkpointEvery: number
  maxTokensPerTurn: number
  limits: EpisodeLimits
}

/** Everything that is concrete about a job. The loop itself knows no environment, no task and no algorithm. */
export interface TrainJobOptions<T extends Task = Task> {
  /** The command line, for the record. */
  command: string
  /** Where the run lives; `resume` goes on with what is there. */
  folder: { path?: string; root?: string; id?: string }
  resume?: boolean
  seed: number
  environment: ToolEnvironment<T>
  tasks: TaskSource<T>
  /** The base model, fresh. */
  backend: () => Promise<TrainableBackend>
  tokenizer: Tokenizer
  reward: Reward
  algorithm: Algorithm
  /** For the record. */
  algorithmName?: string
  plan: TrainingPlan
  /** For a public checkpoint: its template and window; else the model is one of the project's own. */
  chat?: ChatModel
  /** The policy over a backend; default: the local actor, or the chat actor where `chat` is given. */
  actor?: (
    backend: TrainableBackend,
    options: { temperature: number; seed: number; maxTokensPerTurn: number },
  ) => Actor
  compareSupervised?: boolean
  /** For an agent of the user's own: how its episodes are played. There is no warm start then, and `environment` lends only its name. */
  program?: ProgramRollout<T>
  /** Kept in config.json beside the plan; must hold no secrets. */
  config?: Record<string, unknown>
  /** Makes report.html from the finished run; default: `renderReport`. */
  report?: (input: ReportInput) => string
}

/** Plays a program of the user's in place of the turn loop. */
export interface ProgramRollout<T extends Task> {
  /** The tasks of a step of RL. */
  draw(step: number): BatchTasks<T>
  /** Each task `groupSize` times with the weights of `backend`; temperature 0 is greedy. */
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
  /** A second model with the weights of this folder. */
  reference(folder: string): Promise<TrainableBackend>
  /** Called with every batch that was learnt from. */
  onGroups?(step: number, groups: readonly EpisodeGroup[], metrics: Record<string, number>): void
}

/** What a batch is made of. */
export interface BatchTasks<T extends Task> {
  first: T[]
  /** In the place of zero-variance groups. */
  more(count: number): T[]
}

export type StageName = 'base' | 'warm-start' | 'supervised' | 'rl'

/** A policy on the held-out tasks. */
export interface StageSummary {
  name: StageName
  success: Estimate
  kinds: Record<string, number>
  kindEstimates: Record<string, Estimate>
  /** Mean calls of an episode. */
  calls: number
  /** Share of the calls that were invalid. */
  invalidCalls: number
  masked: number
  /** How many were masked for each reason; absent in runs of earlier versions. */
  maskedReasons?: Record<string, number>
  /** Mean tokens sampled in an episode. */
  tokens: number
  /** Wall-clock of the training that led here (0 for the base model), and of the evaluation. */
  seconds: number
  evaluationSeconds: number
}

/** A message of a sample episode, to be read. */
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

/** Tasks that are not used any more, and families of which no demonstration succeeded; how many demonstrations were lost, and why. */
export interface DroppedTasks {
  tasks: string[]
  kinds: string[]
  demonstrations: number
  reasons: Record<string, number>
}

/** What reinforcement learning was and had to learn from, over all its steps. */
export interface ReinforcementRecord {
  steps: number
  /** Groups that were learnt from, and those of them whose episodes did not all get the same reward. */
  groups: number
  groupsWithSignal: number
  /** Episodes that were judged, and those of them that failed. */
  judged: number
  failed: number
}

/** `summary.json`. */
export interface TrainingSummary {
  schema: 1
  command: string
  /** The name of the algorithm; absent where it has none, and in runs of earlier versions. */
  algorithm?: string | undefined
  machine: { platform: string; cpu: string; cores: number; memoryGiB: number; node: string }
  seconds: number
  seed: number
  stages: StageSummary[]
  /** RL less continued supervision, paired by task; only where they were compared. */
  gain?: MeanEstimate
  /** The trained policy on phrasings whose words never occurred in training. */
  unseenParaphrases?: { success: Estimate; kinds: Record<string, number> }
  demonstrations: Record<string, number>
  /** Tools that failed in demonstrations, with how often; and what was dropped for that. Only where the environment proves its tasks. */
  unstableTools?: Record<string, CallCounts> | undefined
  dropped?: DroppedTasks | undefined
  /** Absent in runs of earlier versions. */
  reinforcement?: ReinforcementRecord | undefined
  /** What did not go well, and what to do about it, in plain sentences; absent where there is nothing to say. */
  remarks?: string[] | undefined
  /** How many of `cost.masked` for each reason. */
  maskedReasons?: Record<string, number> | undefined
  /** Of the whole job, evaluations included. */
  cost: { seconds: number; sampledTokens: number; calls: number; episodes: number; masked: number }
  samples: SampleEpisode[]
  model: string
}

export interface ReportInput {
  summary: TrainingSummary
  metrics: MetricsRecord[]
  config: Record<string, unknown>
}
