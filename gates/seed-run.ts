import { trainArray } from 'agoge'
import type { ArraySummary } from 'agoge'
import { counts, withBonus } from 'agoge/unstable/algorithm/arrays'
import { findRun } from 'agoge/unstable/training/arrays'
import type { Gate } from './gate.ts'

/** Episodes that the final greedy policy plays. */
export const episodes = 100

/** One seed of a gate, as it is told to a child process. */
export interface SeedJob {
  gate: Gate
  seed: number
}

/** What came of a seed. */
export interface SeedResult {
  seed: number
  /** Mean over the episodes of the final greedy policy. */
  return: number
  /** Of training alone. */
  seconds: number
}

export type SeedAnswer = { result: SeedResult; machine: ArraySummary['machine'] } | { error: string }

/** Everything that the result depends on beside the code and the seed; plain data. */
export function settingsOf(gate: Gate): Record<string, unknown> {
  const { world, steps, countBonus = 0 } = gate
  return { world, ...findRun(gate).settings, countBonus, steps, episodes }
}

/** Trains with one thread, then plays. */
export async function runSeed({ gate, seed }: SeedJob): Promise<Exclude<SeedAnswer, { error: string }>> {
  const { world, algorithm, slots } = findRun(gate)
  const { countBonus } = gate
  const { summary, agent } = await trainArray({
    world,
    algorithm: countBonus === undefined ? algorithm : withBonus(algorithm, counts(), countBonus),
    slots,
    steps: gate.steps,
    seed,
    evaluate: { every: 0, episodes },
  })
  await agent.dispose()
  return { result: { seed, return: summary.return.mean, seconds: summary.seconds }, machine: summary.machine }
}
