import { average } from 'agoge/statistics'

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
 * of each. Seeds must be above 100: seeds 1 to 100 are those of the results.
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
