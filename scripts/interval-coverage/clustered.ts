import { createRandom } from '../../src/engine/random/index.ts'
import type { Random } from '../../src/engine/random/index.ts'
import { groupedWilsonInterval } from '../../src/statistics/statistics.ts'

/** The settings of the grid. Trials of a task are correlated: 0 means equally hard tasks, 1 tasks that always or never succeed. */
export const grid = {
  tasks: [10, 20, 50, 100, 300],
  trials: [1, 3, 5, 10],
  success: [0.05, 0.2, 0.5, 0.8, 0.95],
  correlation: [0, 0.3, 0.7, 1],
} as const

/** One setting with the share of simulations whose interval holds the true success rate. */
export interface ClusteredCell {
  tasks: number
  trials: number
  success: number
  correlation: number
  coverage: number
}

/** Every setting of the grid. With one trial a task there is no correlation. */
export function clusteredGrid(simulations: number): ClusteredCell[] {
  return grid.tasks.flatMap((tasks) =>
    grid.trials.flatMap((trials) =>
      grid.success.flatMap((success) =>
        (trials === 1 ? [0] : grid.correlation).map((correlation) => {
          const setting = { tasks, trials, success, correlation }
          return { ...setting, coverage: clusteredCoverage(setting, simulations) }
        }),
      ),
    ),
  )
}

/** Coverage of `groupedWilsonInterval` where the chances of tasks have a beta distribution, or are all 0 or 1. */
export function clusteredCoverage(
  { tasks, trials, success, correlation }: Omit<ClusteredCell, 'coverage'>,
  simulations: number,
): number {
  const random = createRandom('clustered', tasks, trials, success, correlation)
  let held = 0
  for (let i = 0; i < simulations; i++) {
    const groups = Array.from({ length: tasks }, () => {
      const chance = chanceOf(success, correlation, random)
      let successes = 0
      for (let trial = 0; trial < trials; trial++) successes += Number(random.next() < chance)
      return { successes, trials }
    })
    const { low, high } = groupedWilsonInterval(groups)
    held += Number(low <= success && high >= success)
  }
  return held / simulations
}

/** The chance of one task: the mean is `success`, and two trials of a task have the correlation. */
function chanceOf(success: number, correlation: number, random: Random): number {
  if (correlation === 0) return success
  const size = (1 - correlation) / correlation
  const a = size === 0 ? 0 : gamma(success * size, random)
  const b = size === 0 ? 0 : gamma((1 - success) * size, random)
  return a + b === 0 ? Number(random.next() < success) : a / (a + b)
}

/** Marsaglia & Tsang (2000). */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * random.next() ** (1 / shape)
  const d = shape - 1 / 3
  for (;;) {
    const x = random.normal()
    const v = (1 + x / Math.sqrt(9 * d)) ** 3
    if (v > 0 && Math.log(1 - random.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}
