import type { Machine, OnTrainingEvent, TrainingEvent } from '../../runs/run-folder.ts'
import type { MeanEstimate } from '../../statistics/intervals.ts'
import type { ClassicAgent, ClassicAlgorithm } from '../algorithm/agent.ts'
import type { Context, Playable } from '../environment/index.ts'
import type { ContextSettings } from './context-settings.ts'
import type { BonusSettings } from './find-run.ts'

export interface EvaluationSettings {
  /** Episodes of the last evaluation. Default 100. */
  episodes?: number
  /** Environment steps between evaluations; 0: only at the end. Default: a tenth of the run. */
  every?: number
  /** Episodes of an evaluation before the last. Default 20. */
  during?: number
}

export interface ClassicTrainOptions {
  /**
   * An environment, an object of one's own with `reset` and `step`, synchronous or not, or a function that makes such objects, for
   * each environment of the vector and for evaluations. One object alone is evaluated only when training is over.
   */
  definition: Playable
  algorithm: ClassicAlgorithm
  /** Environment steps over all environments of the vector, rounded up to whole steps of all of them. */
  steps: number
  /** Copies of the environment that are stepped together. Default 8, and 1 of an object. */
  numEnvs?: number
  /** Default 0. */
  seed?: number
  evaluate?: EvaluationSettings
  /** The context of an environment's next episode; default: the defaults of the environment. */
  contextFor?: (envIndex: number, episode: number) => Context
  /**
   * Contexts of evaluations, by name: the first for all of them and for the result, the others played in the end too.
   * Default: the defaults of the environment.
   */
  evaluationSets?: Readonly<Record<string, (episode: number) => Context>>
  /** Threads of the learner. Default 1, which repeats bit for bit. */
  threads?: number
  /** The run folder. Default: nothing is written. */
  out?: string
  /** Goes on with the run in `out`. */
  resume?: boolean
  /** Environment steps between checkpoints. Default: a twentieth of the run. */
  checkpointEvery?: number
  /** What `environment` and `algorithm` are, as plain data: kept in `config.json`, and compared on `resume`. */
  settings?: Readonly<Record<string, unknown>>
  /** How the run was started, for the record. */
  command?: string
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
}

/** The greedy policy on episodes of its own environment. */
export interface Evaluation {
  /** Environment steps of training before it. */
  step: number
  /** Mean return with its interval over episodes. */
  return: MeanEstimate
  /** Mean length of an episode in steps. */
  length: number
}

/**
 * The evaluation with the highest mean return on the first set of contexts, of equals the earliest. Its checkpoint is kept beside the
 * last one.
 */
export interface BestEvaluation {
  step: number
  /** Mean return. */
  return: number
  /** Its folder beneath `checkpoints`; absent where nothing is written. */
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
  /** Environment steps taken, and episodes that ended in them. */
  steps: number
  episodes: number
  /** Wall-clock of training alone, over all processes that worked on it; evaluations are not in it. */
  seconds: number
  evaluationSeconds: number
  /** All of them, the last one being the result. */
  evaluations: Evaluation[]
  /** Absent in runs of earlier versions. */
  best?: BestEvaluation
  /** Of the last evaluation. */
  return: MeanEstimate
  /** On each set of contexts, where there are several. */
  sets?: SetEvaluation[]
}

export interface ClassicResult {
  summary: ClassicSummary
  /** The trained agent; dispose of it in the end. */
  agent: ClassicAgent
}

/** What to train, by names, so that it can be told to another process. */
export interface NamedRun {
  /** Of an environment that Agoge has, or a module that exports `environment`: see `readEnvironmentFile`. */
  environment: string
  /** Of an algorithm that Agoge has. */
  algorithm: string
  /** Default: the algorithm's own for the environment. */
  preset?: string
  /** Instead of settings of the preset. */
  config?: Readonly<Record<string, unknown>>
  steps: number
  /** Default: the preset's. */
  numEnvs?: number
  evaluate?: EvaluationSettings
  /** What is added to the rewards that it learns from. Default: nothing. */
  bonus?: BonusSettings
  /** What varies between episodes. Default: nothing, the environment has its default context. */
  contexts?: Partial<ContextSettings>
}

export interface TrainSeedsOptions extends NamedRun {
  seeds: readonly number[]
  /** Holds a run folder for each seed: `seed-1`, `seed-2` ... */
  out: string
  /** Goes on with the seeds that are there, and begins the others. */
  resume?: boolean
  /** Processes at once. Default and most: the cores. */
  processes?: number
  command?: string
  onEvent?: (seed: number, event: TrainingEvent) => void
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
  /** Wall-clock of this call. */
  seconds: number
  /** Interquartile mean over seeds of their mean returns, with its stratified bootstrap interval. */
  return: MeanEstimate
  /** The same on each set of contexts, where there are several. */
  sets?: { set: string; return: MeanEstimate }[]
  runs: ClassicSummary[]
}
