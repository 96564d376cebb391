import { AgogeError } from '../error.ts'
import { createRandom } from '../random/index.ts'
import type { Estimate } from './interval.ts'
import { interquartileMean, mean, quantile } from './statistics.ts'

export interface BootstrapSettings {
  /** Default 10 000. */
  resamples?: number
  /** Default 0.95. */
  level?: number
  seed?: number | string
}

/** Percentile bootstrap interval of the mean. Fewer than two values give a point without width. */
export function bootstrapMean(values: readonly number[], settings: BootstrapSettings = {}): Estimate {
  return resample(values, mean, settings)
}

/**
 * Percentile bootstrap interval of the mean difference `a - b`, both measured on the same tasks in the same order.
 * The pairing takes the difficulty of the tasks out of the comparison.
 *
 * @throws AgogeError where the lengths differ.
 */
export function pairedDifference(
  a: readonly number[],
  b: readonly number[],
  settings: BootstrapSettings = {},
): Estimate {
  if (a.length !== b.length)
    throw new AgogeError('A paired comparison needs the same tasks on both sides', {
      code: 'unpaired',
      given: `${a.length} and ${b.length} values`,
      expected: 'two lists of the same length in the same order',
    })
  return bootstrapMean(
    a.map((value, at) => value - b[at]),
    settings,
  )
}

/**
 * Interquartile mean over all runs and tasks with a stratified bootstrap interval: runs are drawn anew within each
 * task, tasks are not. `scores[task][run]`.
 *
 * Source: Agarwal et al., Deep RL at the edge of the statistical precipice (arXiv 2108.13264); rliable.
 */
export function stratifiedInterquartileMean(
  scores: readonly (readonly number[])[],
  settings: BootstrapSettings = {},
): Estimate {
  const random = createRandom(settings.seed ?? 0, 'stratified-bootstrap')
  const draw = (): number =>
    interquartileMean(scores.flatMap((runs) => runs.map(() => runs[random.int(runs.length)])))
  return interval(interquartileMean(scores.flat()), scores.flat().length, draw, settings)
}

function resample(
  values: readonly number[],
  statistic: (values: readonly number[]) => number,
  settings: BootstrapSettings,
): Estimate {
  const random = createRandom(settings.seed ?? 0, 'bootstrap')
  const drawn = values.slice()
  const draw = (): number => {
    for (let i = 0; i < drawn.length; i++) drawn[i] = values[random.int(values.length)]
    return statistic(drawn)
  }
  return interval(statistic(values), values.length, draw, settings)
}

function interval(centre: number, n: number, draw: () => number, settings: BootstrapSettings): Estimate {
  const { resamples = 10_000, level = 0.95 } = settings
  if (n < 2) return { mean: centre, low: centre, high: centre, n }
  const draws = Float64Array.from({ length: resamples }, draw).sort()
  const tail = (1 - level) / 2
  return { mean: centre, low: quantile(draws, tail), high: quantile(draws, 1 - tail), n }
}
