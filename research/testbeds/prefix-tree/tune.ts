import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../../runner/paper.ts'

/** The best setting of an arm. */
export interface TunedArm {
  best: number
  /** Mean score of each setting of the grid, in its order. */
  scores: number[]
  /** Whether the best setting is neither the first nor the last of the grid. If not, widen the grid. */
  inside: boolean
}

/**
 * Runs every arm with every setting of the same grid on the same seeds, and returns the setting with the best mean score
 * of each. Seeds must be from 101 to 1000: those of results begin at 1001.
 *
 * @param grid settings in rising order, such as learning rates.
 */
export function tuned<Name extends string>(
  arms: Readonly<Record<Name, (run: { seed: number; learningRate: number }) => number>>,
  grid: readonly number[],
  seeds: readonly number[],
): Record<Name, TunedArm> {
  const found = Object.entries<(run: { seed: number; learningRate: number }) => number>(arms).map(
    ([name, arm]) => {
      const scores = grid.map((learningRate) => average(seeds.map((seed) => arm({ seed, learningRate }))))
      const at = scores.indexOf(Math.max(...scores))
      return [name, { best: grid[at], scores, inside: at > 0 && at < grid.length - 1 }] as const
    },
  )
  return Object.fromEntries(found) as Record<Name, TunedArm>
}

/** Seeds for tuning: 101 and on. */
export const tuningSeeds = (count: number): number[] => Array.from({ length: count }, (_, i) => 101 + i)

/** What a paper exports for `tune-paper.ts`. */
export interface Tuning {
  arms: Readonly<Record<string, (run: { seed: number; learningRate: number }) => number>>
  grid: readonly number[]
}

/** Input of an arm whose learning rate is tuned. */
export type TunedRun = Pick<ArmRun, 'seed' | 'budget'>

/** Arms of a paper, each at its own learning rate, and what `tune-paper.ts` needs to find these. */
export interface TunedArms<Name extends string> {
  /** `untrained` is the first arm with a learning rate of 0. */
  arms: Record<Name | 'untrained', (run: TunedRun) => ArmResult>
  tuning: Tuning
}

/**
 * The arms of a paper that all train by one function.
 *
 * @param learningRates the best of the grid for each arm, by `tune-paper.ts`.
 * @example
 * const { arms, tuning } = tunedArms({ grpo: 8, rloo: 16 }, trained, { grid: [4, 8, 16, 32], budget })
 */
export function tunedArms<Name extends string>(
  learningRates: Readonly<Record<Name, number>>,
  trained: (name: Name, learningRate: number, run: TunedRun) => ArmResult,
  { grid, budget }: { grid: readonly number[]; budget: TunedRun['budget'] },
): TunedArms<Name> {
  const names = Object.keys(learningRates) as Name[]
  const arms = names.map((name) => [name, (run: TunedRun) => trained(name, learningRates[name], run)])
  const untrained = (run: TunedRun): ArmResult => trained(names[0], 0, run)
  const tuning: Tuning = {
    grid,
    arms: Object.fromEntries(
      names.map((name) => [
        name,
        ({ seed, learningRate }) => trained(name, learningRate, { seed, budget }).score,
      ]),
    ),
  }
  return { arms: Object.fromEntries([...arms, ['untrained', untrained]]), tuning }
}

/**
 * The mean of several trainings with the same task, which differ in what they sample: score, start and measures. The
 * task is set up once, which takes most of the time, and what is left of chance between arms shrinks.
 *
 * @param train one of them; `repeat` is from 0 to `count - 1`. All return measures of the same names.
 */
export function repeated(count: number, train: (repeat: number) => ArmResult): ArmResult {
  const results = Array.from({ length: count }, (_, repeat) => train(repeat))
  const mean = (of: (result: ArmResult) => number): number => average(results.map(of))
  return {
    score: mean(({ score }) => score),
    ...(results[0].start === undefined ? {} : { start: mean(({ start }) => start!) }),
    measures: Object.fromEntries(
      Object.keys(results[0].measures ?? {}).map((name) => [name, mean(({ measures }) => measures![name])]),
    ),
  }
}
