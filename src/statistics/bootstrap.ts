import { createRandom } from '../engine/random/index.ts'
import { tooFew } from './interval.ts'
import type { MeanEstimate } from './interval.ts'
import { interquartileMean, quantile } from './statistics.ts'

export interface BootstrapSettings {
  /** Default 10 000. */
  resamples?: number
  /** Default 0.95. */
  level?: number
  seed?: number | string
}

/**
 * Interquartile mean over all runs and tasks with a stratified percentile bootstrap interval: runs are drawn anew within
 * each task, tasks are not. `scores[task][run]`. There is no interval where a task has fewer than five runs.
 *
 * Source: Agarwal et al., Deep RL at the edge of the statistical precipice (arXiv 2108.13264); rliable.
 */
export function stratifiedInterquartileMean(
  scores: readonly (readonly number[])[],
  { resamples = 10_000, level = 0.95, seed = 0 }: BootstrapSettings = {},
): MeanEstimate {
  const all = scores.flat()
  const centre = interquartileMean(all)
  const none = tooFew(centre, Math.min(all.length, ...scores.map((runs) => runs.length)))
  if (none !== null) return none
  const random = createRandom(seed, 'stratified-bootstrap')
  const draw = (): number =>
    interquartileMean(scores.flatMap((runs) => runs.map(() => runs[random.int(runs.length)])))
  const draws = Float64Array.from({ length: resamples }, draw).sort()
  const tail = (1 - level) / 2
  return { mean: centre, low: quantile(draws, tail), high: quantile(draws, 1 - tail), n: all.length }
}
