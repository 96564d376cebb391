import type { MeanEstimate } from '../../statistics/intervals.ts'
import type { TrainingEvent } from '../../runs/events.ts'
import type { Machine } from '../../runs/machine.ts'
import type { BonusSettings } from './bonus-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import type { ClassicSummary, EvaluationSettings } from './types.ts'

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
