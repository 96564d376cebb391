import { average } from 'agoge/statistics'
import { plan, tasks } from './plan.ts'

/** One training run and its score. */
export interface AblationRow {
  task: string
  preset: string
  rate: number
  seed: number
  /** Exact pass@1 of the test split before training, in [0, 1]. */
  start: number
  /** Points of 100. */
  gain: number
  /** Sampled in training. */
  tokens: number
  optimiserSteps: number
  /** Means over all batches. */
  clipFraction: number
  zeroVariance: number
  /** Nats per token, mean of the last ten batches. */
  entropy: number
}

export interface Ablation {
  plan: typeof plan
  tuning: AblationRow[]
  results: AblationRow[]
}

/** What identifies a run. */
export type RunKey = Pick<AblationRow, 'task' | 'preset' | 'rate' | 'seed'>

export const sameRun = (a: RunKey, b: RunKey): boolean =>
  a.task === b.task && a.preset === b.preset && a.rate === b.rate && a.seed === b.seed

/** Trains one preset from the common start of the seed and scores it. */
export async function trainAndScore({ task, preset, rate, seed }: RunKey): Promise<AblationRow> {
  const { testbed, judge } = tasks[task]
  const { steps, batch, groupSize, epochs, minibatches } = plan
  const budget = { steps, batch, groupSize, epochs, minibatches }
  let measured: Omit<AblationRow, keyof RunKey | 'start' | 'gain'> | undefined
  const { start, gain } = await testbed(seed, async ({ train }) => {
    const batches = await train({ algorithm: preset, learningRate: rate, ...budget, ...(judge && { judge }) })
    measured = {
      tokens: Math.round(batches.reduce((sum, { length }) => sum + length * batch * groupSize, 0)),
      optimiserSteps: batches.reduce((sum, { optimiserSteps }) => sum + optimiserSteps, 0),
      clipFraction: average(batches.map(({ clipFraction }) => clipFraction)),
      zeroVariance: average(batches.map(({ zeroVariance }) => zeroVariance)),
      entropy: average(batches.slice(-10).map(({ entropy }) => entropy)),
    }
  })
  if (measured === undefined) throw new Error('the arm has not run')
  return { task, preset, rate, seed, start, gain, ...measured }
}

/** Mean gain of each rate of a preset on a task, lowest rate first. Rates that lack a tuning seed are left out. */
export function tuned(
  rows: readonly AblationRow[],
  task: string,
  preset: string,
): { rate: number; gain: number }[] {
  const own = rows.filter((row) => row.task === task && row.preset === preset)
  return [...new Set(own.map(({ rate }) => rate))]
    .sort((a, b) => a - b)
    .map((rate) => own.filter((row) => row.rate === rate))
    .filter((found) => found.length === plan.tuningSeeds.length)
    .map((found) => ({ rate: found[0].rate, gain: average(found.map(({ gain }) => gain)) }))
}

/** The rate with the highest mean gain; the lower one of two equal ones. */
export const bestOf = (grid: readonly { rate: number; gain: number }[]): number =>
  grid.reduce((best, each) => (each.gain > best.gain ? each : best)).rate

/** The next rate beyond the edge at which the best one is, or null: it is inside, or the grid was extended often enough. */
export function extension(grid: readonly { rate: number; gain: number }[]): number | null {
  if (grid.length >= plan.rates.length + plan.extensions) return null
  const best = bestOf(grid)
  if (best === grid[0].rate) return nextRate(best, -1)
  return best === grid[grid.length - 1].rate ? nextRate(best, 1) : null
}

/** 1e-4, 3e-4, 1e-3, 3e-3 and so on. */
function nextRate(rate: number, direction: 1 | -1): number {
  const leading = Number(rate.toExponential()[0])
  const factor = (leading === 1) === (direction === 1) ? 3 : 10 / 3
  return Number((rate * factor ** direction).toPrecision(1))
}
