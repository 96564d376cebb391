import { AgogeError } from '../../../error.ts'
import { describeSpace } from '../space-describe.ts'
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
 * `observationStatistics.freeze()` keeps the statistics as they are, as for evaluation. With `statistics`, those of another
 * environment are used and nothing is taken in: so an evaluation sees what training saw.
 */
export function normaliseObservations<E extends AnyVector>(
  env: E,
  { epsilon = 1e-8, statistics: given }: { epsilon?: number; statistics?: RunningMeanStd } = {},
): E & { readonly observationStatistics: RunningMeanStd } {
  const { shape } =
    env.definition.observation.type === 'box'
      ? env.definition.observation
      : { shape: [rowSize(env.definition.observation)] }
  const space = box(shape, -Infinity, Infinity)
  const width = space.low.length
  const statistics = given ?? createRunningMeanStd(width)
  if (statistics.mean.length !== width) {
    throw new AgogeError(`statistics of ${env.definition.name} are not those of its observations`, {
      code: 'shape-mismatch',
      given: `statistics of ${statistics.mean.length} numbers`,
      expected: `${width} numbers: ${describeSpace(env.definition.observation)}`,
    })
  }
  const { mean, variance } = statistics
  const wrapped = wrapObservations(
    env,
    () => ({
      arrays: statisticsArrays(statistics),
      ...(given === undefined
        ? { seen: (rows: Float32Array, which?: Uint8Array) => statistics.update(rows, which) }
        : {}),
      next(from, fromAt, to, toAt) {
        for (let k = 0; k < width; k++)
          to[toAt + k] = (from[fromAt + k] - mean[k]) / Math.sqrt(variance[k] + epsilon)
      },
    }),
    space,
  )
  return { ...wrapped, observationStatistics: statistics }
}
