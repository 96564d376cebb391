import { box, rowSize } from '../space.ts'
import type { AnyVector } from '../any-vector.ts'
import { createRunningMeanStd, statisticsArrays } from './running-mean-std.ts'
import type { RunningMeanStd } from './running-mean-std.ts'
import { wrapObservations } from './wrap-observations.ts'

/**
 * Observations less their running mean, over their running standard deviation, as Gymnasium's `NormalizeObservation`:
 * the rows of a step are taken in first, all at once, and then normalised by the new statistics. Every observation counts
 * once, the last ones of episodes included, under all three modes of autoreset. `epsilon` is added to the variance.
 *
 * `observationStatistics.freeze()` keeps the statistics as they are, as for evaluation.
 */
export function normaliseObservations<E extends AnyVector>(
  env: E,
  { epsilon = 1e-8 }: { epsilon?: number } = {},
): E & { readonly observationStatistics: RunningMeanStd } {
  const { shape } =
    env.world.observation.type === 'box' ? env.world.observation : { shape: [rowSize(env.world.observation)] }
  const space = box(shape, -Infinity, Infinity)
  const width = space.low.length
  const statistics = createRunningMeanStd(width)
  const { mean, variance } = statistics
  const wrapped = wrapObservations(
    env,
    () => ({
      arrays: statisticsArrays(statistics),
      seen: (rows, which) => statistics.update(rows, which),
      next(from, fromAt, to, toAt) {
        for (let k = 0; k < width; k++)
          to[toAt + k] = (from[fromAt + k] - mean[k]) / Math.sqrt(variance[k] + epsilon)
      },
    }),
    space,
  )
  return { ...wrapped, observationStatistics: statistics }
}
