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
  /** Source of the bar. */
  source: string
  /** A script of `bench/peers/` and its arguments. It trains the reference with the same settings. */
  peer?: readonly [script: string, ...args: string[]]
  /** How to interpret a result whose interval is not entirely on the right side of the bar. */
  reading?: string
  /** Why the gate cannot run yet. */
  notYet?: string
}

/** An interquartile mean over seeds with its 95% bootstrap interval. */
export interface Interval {
  iqm: number
  low: number
  high: number
}

/** The output of `--json`: the interquartile mean over seeds of their mean returns, with its 95% stratified bootstrap interval. */
export interface GateLine {
  name: string
  iqm: number | null
  low: number | null
  high: number | null
  bar: number
  passed: boolean
  seeds: number
  /** Seconds of training only, summed over seeds. */
  seconds: number
}
