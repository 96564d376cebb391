import { trainClassic } from 'agoge'
import type { ClassicSummary } from 'agoge'
import { counts, withBonus, findRun } from 'agoge/classic'
import type { Gate } from './gate.ts'

/** Episodes of the final greedy policy. */
export const episodes = 100

/** One seed of a gate, as the child process receives it. */
export interface SeedJob {
  gate: Gate
  seed: number
}

/** The result of a seed. */
export interface SeedResult {
  seed: number
  /** Mean over the episodes of the final greedy policy. */
  return: number
  /** Seconds of training only. */
  seconds: number
}

export type SeedAnswer = { result: SeedResult; machine: ClassicSummary['machine'] } | { error: string }

/** Everything that affects the result besides the code and the seed, as plain data. */
export function settingsOf(gate: Gate): Record<string, unknown> {
  const { environment, steps, countBonus = 0 } = gate
  return { environment, ...findRun(gate).settings, countBonus, steps, episodes }
}

/** Trains with one thread, then evaluates. */
export async function runSeed({ gate, seed }: SeedJob): Promise<Exclude<SeedAnswer, { error: string }>> {
  const { definition, algorithm, numEnvs } = findRun(gate)
  const { countBonus } = gate
  const { summary, agent } = await trainClassic({
    definition,
    algorithm: countBonus === undefined ? algorithm : withBonus(algorithm, counts(), countBonus),
    numEnvs,
    steps: gate.steps,
    seed,
    evaluate: { every: 0, episodes },
  })
  await agent.dispose()
  return { result: { seed, return: summary.return.mean, seconds: summary.seconds }, machine: summary.machine }
}
