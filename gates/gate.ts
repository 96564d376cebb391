/** A score that training has to reach, or, where learning is known to fail, not to pass. */
export interface Gate {
  name: string
  /** Names of an environment, an algorithm and one of its presets. */
  environment: string
  algorithm: string
  preset: string
  /** Instead of settings of the preset. */
  config?: Readonly<Record<string, unknown>>
  /** Weight of a bonus of 1 / sqrt(visits) for the state reached, which the learner sees added to the reward. */
  countBonus?: number
  /** Environment steps. */
  steps: number
  /** Return of an episode. */
  bar: number
  direction: 'at-least' | 'at-most'
  /** Where the bar comes from. */
  source: string
  /** A script of `bench/peers/`, and what it is told, that trains the reference at the same settings. */
  peer?: readonly [script: string, ...args: string[]]
  /** How a result whose interval is not wholly on the right side of the bar is to be read. */
  reading?: string
  /** Why it cannot be run yet. */
  notYet?: string
}

/** An interquartile mean over seeds with its 95% bootstrap interval. */
export interface Interval {
  iqm: number
  low: number
  high: number
}

/** What `--json` prints: interquartile mean over seeds of their mean returns with its 95% stratified bootstrap interval. */
export interface GateLine {
  name: string
  iqm: number | null
  low: number | null
  high: number | null
  bar: number
  passed: boolean
  seeds: number
  /** Of training alone, summed over seeds. */
  seconds: number
}
