import type { ClassicSummary } from 'agoge'
import { findRun } from 'agoge/classic'
import type { TrainSeedsOptions } from 'agoge'
import type { Gate } from './gate.ts'

/** Episodes of the final greedy policy. */
const episodes = 100

/** The result of a seed. */
export interface SeedResult {
  seed: number
  /** Mean over the episodes of the final greedy policy. */
  return: number
  /** Seconds of training only. */
  seconds: number
}

/** Everything that affects the result besides the code and the seed, as plain data. */
export function settingsOf(gate: Gate): Record<string, unknown> {
  const { environment, steps, countBonus = 0 } = gate
  return { environment, ...findRun(gate).settings, countBonus, steps, episodes }
}

/** The run of a gate: one thread, evaluated only at the end. */
export function runOf({
  environment,
  algorithm,
  preset,
  config,
  countBonus,
  steps,
}: Gate): Omit<TrainSeedsOptions, 'seeds'> {
  return {
    environment,
    algorithm,
    preset,
    steps,
    evaluate: { every: 0, episodes },
    ...(config === undefined ? {} : { config }),
    ...(countBonus === undefined ? {} : { bonus: { kind: 'counts', weight: countBonus } }),
  }
}

/** What is stored of a seed. */
export const seedResult = ({ seed, return: { mean }, seconds }: ClassicSummary): SeedResult => ({
  seed,
  return: mean,
  seconds,
})
