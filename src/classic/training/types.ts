import type { Machine, OnTrainingEvent, TrainingEvent } from '../../runs/run-folder.ts'
import type { BatchMember } from '../../engine/nn/index.ts'
import type { MeanEstimate } from '../../statistics/statistics.ts'
import type { ClassicAgent, ClassicAlgorithm } from '../algorithm/agent.ts'
import type { Context, Playable } from '../environment/index.ts'
import type { ContextSettings } from './context-settings.ts'
import type { BonusSettings } from './find-run.ts'

/** When and how long a run evaluates its agent. */
export interface EvaluationSettings {
  /** Episodes of the last evaluation. Default: 100. */
  episodes?: number
  /** Environment steps between evaluations; 0 evaluates only at the end. Default: a tenth of the run. */
  every?: number
  /** Episodes of every other evaluation. Default: 20. */
  during?: number
}

/** Options of `trainClassic`. */
export interface ClassicTrainOptions {
  /**
   * An environment; your own object with `reset` and `step`, synchronous or asynchronous; or a function that makes
   * such objects, one for each environment of the vector and for evaluations. A single object is evaluated only
   * after training.
   */
  definition: Playable
  algorithm: ClassicAlgorithm
  /** Environment steps in total over all environments, rounded up to whole steps of all of them. */
  steps: number
  /** Number of environments that step together. Default: 8, or 1 for an object. */
  numEnvs?: number
  /** Default: 0. */
  seed?: number
  evaluate?: EvaluationSettings
  /** The context of an environment's next episode. Default: the defaults of the environment. */
  contextFor?: (envIndex: number, episode: number) => Context
  /**
   * Contexts of evaluations, by name. All evaluations and the result use the first set; the last evaluation plays
   * the others too. Default: the defaults of the environment.
   */
  evaluationSets?: Readonly<Record<string, (episode: number) => Context>>
  /** Threads of the learner. Default: 1, which is reproducible bit for bit. */
  threads?: number
  /** Computes gradients in one call with those of other trainings of the same kind (`createBatch` of `agoge/engine`). */
  batch?: BatchMember
  /** The run folder. Default: nothing is written. */
  out?: string
  /** Resumes the run in `out`. */
  resume?: boolean
  /** Environment steps between checkpoints. Default: a twentieth of the run. */
  checkpointEvery?: number
  /**
   * Description of `environment` and `algorithm`, as plain data. Written to `config.json`, and compared on
   * `resume`.
   */
  settings?: Readonly<Record<string, unknown>>
  /** How the run was started, for the record. */
  command?: string
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
}

/** An evaluation of the greedy policy. */
export interface Evaluation {
  /** Environment steps of training before it. */
  step: number
  /** Mean return over episodes, with its interval. */
  return: MeanEstimate
  /** Mean length of an episode in steps. */
  length: number
  /** Of environments with several agents: the mean return of each, by name. `return` is of their means. */
  agents?: Readonly<Record<string, number>>
}

/**
 * The evaluation with the highest mean return on the first set of contexts, the earliest of equal ones. Its
 * checkpoint is kept.
 */
export interface BestEvaluation {
  step: number
  /** Mean return. */
  return: number
  /** Folder of its checkpoint in `checkpoints`; absent if nothing is written. */
  checkpoint?: string
}

/** The last evaluation on one set of contexts. */
export type SetEvaluation = Omit<Evaluation, 'step'> & { set: string }

/** `summary.json`. */
export interface ClassicSummary {
  schema: 1
  kind: 'array'
  command: string
  machine: Machine
  environment: string
  settings: Readonly<Record<string, unknown>>
  seed: number
  numEnvs: number
  /** Environment steps, and episodes that ended in them. */
  steps: number
  episodes: number
  /** Wall-clock time of training in seconds, over all processes that worked on it. Excludes evaluations. */
  seconds: number
  evaluationSeconds: number
  /** All evaluations. The last one is the result. */
  evaluations: Evaluation[]
  /** Absent in runs of earlier versions. */
  best?: BestEvaluation
  /** The last evaluation. */
  return: MeanEstimate
  /** The last evaluation on each set of contexts, if there are several. */
  sets?: SetEvaluation[]
}

/** The result of `trainClassic`. */
export interface ClassicResult {
  summary: ClassicSummary
  /** The trained agent. Call `dispose` when done. */
  agent: ClassicAgent
}

/** A training run by names, which can be sent to another process. */
export interface NamedRun {
  /** Name of an environment of Agoge, or path of a module that exports `environment` (see `readEnvironmentFile`). */
  environment: string
  /** Name of an algorithm of Agoge. */
  algorithm: string
  /** Default: the algorithm's preset for the environment. */
  preset?: string
  /** Settings that override those of the preset. */
  config?: Readonly<Record<string, unknown>>
  steps: number
  /** Default: that of the preset. */
  numEnvs?: number
  evaluate?: EvaluationSettings
  /** Exploration bonus that is added to the rewards of training. Default: none. */
  bonus?: BonusSettings
  /** What varies between episodes. Default: nothing; all episodes have the default context. */
  contexts?: Partial<ContextSettings>
}

/** Options of `trainSeeds`. */
export interface TrainSeedsOptions extends NamedRun {
  seeds: readonly number[]
  /** The folder that holds a run folder for each seed: `seed-1`, `seed-2` ... Default: nothing is written. */
  out?: string
  /** Resumes the seeds that have been started, and starts the others. */
  resume?: boolean
  /** Most concurrent processes. Default: the number of cores, which is also the limit. */
  processes?: number
  /**
   * Trains the seeds of a process at the same time, and computes their gradients in one call: faster for small networks.
   * The numbers of a seed differ in their last digits from those of a run alone, and so do its results; they do not depend
   * on the other seeds. For PPO, A2C and PQN; with an encoder that cannot be stacked (convolutions) each is computed alone.
   * Default: false.
   */
  batched?: boolean
  command?: string
  onEvent?: (seed: number, event: TrainingEvent) => void
  /** Called when a seed is done, in the order in which they finish; with `batched`, when its batch is done. */
  onSeed?: (summary: ClassicSummary) => void
  signal?: AbortSignal
}

/** `summary.json` of several seeds. */
export interface SeedsSummary {
  schema: 1
  kind: 'seeds'
  command: string
  machine: Machine
  environment: string
  settings: Readonly<Record<string, unknown>>
  /** Wall-clock time of this call in seconds. */
  seconds: number
  /** Interquartile mean over seeds of their mean returns, with its stratified bootstrap interval. */
  return: MeanEstimate
  /** The same on each set of contexts, if there are several. */
  sets?: { set: string; return: MeanEstimate }[]
  runs: ClassicSummary[]
}
