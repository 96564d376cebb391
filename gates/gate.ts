/** A score that training must reach or, for known failures, must not exceed. */
export interface Gate {
  name: string
  /** Names of an environment, an algorithm and one of its presets. */
  environment: string
  algorithm: string
  preset: string
  /** Override settings of the preset. */
  config?: Readonly<Record<string, unknown>>
  /** Weight of a bonus of 1 / sqrt(visits) for the state reached, added to the learner's reward. */
  countBonus?: number
  /** Number of environment steps. */
  steps: number
  /** Return of an episode. */
  bar: number
  direction: 'at-least' | 'at-most'
  /** Score of a policy that has learnt nothing, and the best that is known; both rounded so that the range is narrow. */
  range: readonly [low: number, high: number]
  /** Seeds that are trained, from 1 on: chosen before the runs. Default: 10. */
  seeds?: number
  /** How the gate is broken for `--broken`. Default: a learning rate of 0, for a twentieth of the steps. */
  broken?: { how: string; change: Partial<Pick<Gate, 'algorithm' | 'preset' | 'countBonus' | 'steps'>> }
  /** Source of the bar. */
  source: string
  /** A script of `bench/peers/` and its arguments. It trains the reference with the same settings. */
  peer?: readonly [script: string, ...args: string[]]
  /** What the seeds of a gate say that does not clear its bar. */
  reading?: string
  /** Why the gate cannot run yet. */
  notYet?: string
}

/** The number of seeds of a gate, and the fewest with which one is said to have failed. */
export const fewestSeeds = 10
export const seedsOf = ({ seeds = fewestSeeds }: Pick<Gate, 'seeds'>): number => seeds

/** The seeds of a gate, from 1 on. */
export const seedsOfGate = (gate: Pick<Gate, 'seeds'>): number[] =>
  Array.from({ length: seedsOf(gate) }, (_, i) => i + 1)

/**
 * Whether a seed failed. Of a score to reach: its return is below the middle between a policy that has learnt nothing and
 * the bar. Of a score not to exceed: its return is above the bar.
 */
export const isFailure = ({ bar, direction, range }: Gate, found: number): boolean =>
  direction === 'at-least' ? found < (range[0] + bar) / 2 : found > bar

/** An interquartile mean over seeds with its 95% bootstrap interval. */
export interface Interval {
  iqm: number
  low: number
  high: number
}

/** The output of `--json`: the interquartile mean over seeds of their mean returns, with its 95% stratified bootstrap
 * interval. */
export interface GateLine {
  name: string
  iqm: number | null
  low: number | null
  high: number | null
  /** Mean over all seeds, and how many of them failed (`isFailure`). */
  mean: number | null
  failures: number
  bar: number
  passed: boolean
  seeds: number
  /** Seconds of training only, summed over seeds. */
  seconds: number
}
