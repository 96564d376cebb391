import { AgogeError } from '../../../error.ts'
import { box, describeSpace, rowSize } from '../space.ts'
import type { AnyVector } from '../vector.ts'
import { wrapObservations, wrapVector } from './wrap-vector.ts'

/** Mean and variance of all rows seen so far. */
export interface RunningMeanStd {
  /** [width]. */
  readonly mean: Float64Array
  /** [width]: of the population, not of a sample. */
  readonly variance: Float64Array
  /** [1]: rows seen, plus the count it began with. */
  readonly count: Float64Array
  /** [1]: 1 where updates are ignored. */
  readonly frozen: Uint8Array
  /** Takes in [n, width] rows; with `which`, those where it is 1. Allocates nothing. */
  update(rows: ArrayLike<number>, which?: Uint8Array): void
  /** Stops or resumes taking in rows, as for evaluation. */
  freeze(frozen?: boolean): void
}

/**
 * Running statistics as Gymnasium's `RunningMeanStd`: batches are merged by the formula of Chan, Golub and LeVeque (1979),
 * beginning with mean 0, variance 1 and a count of `epsilon`. All in double precision (Gymnasium keeps those of float32
 * observations in float32).
 */
export function createRunningMeanStd(width: number, epsilon = 1e-4): RunningMeanStd {
  const mean = new Float64Array(width)
  const variance = new Float64Array(width).fill(1)
  const count = Float64Array.of(epsilon)
  const frozen = new Uint8Array(1)
  return {
    mean,
    variance,
    count,
    frozen,
    update(rows, which) {
      if (frozen[0] === 1) return
      const n = rows.length / width
      let taken = 0
      for (let row = 0; row < n; row++) if (which === undefined || which[row] === 1) taken++
      if (taken === 0) return
      const total = count[0] + taken
      for (let k = 0; k < width; k++) {
        let sum = 0
        for (let row = 0; row < n; row++)
          if (which === undefined || which[row] === 1) sum += rows[row * width + k]
        const batchMean = sum / taken
        let squares = 0
        for (let row = 0; row < n; row++) {
          if (which !== undefined && which[row] !== 1) continue
          const deviation = rows[row * width + k] - batchMean
          squares += deviation * deviation
        }
        const delta = batchMean - mean[k]
        mean[k] += (delta * taken) / total
        const moment = variance[k] * count[0] + squares + (delta * delta * count[0] * taken) / total
        variance[k] = moment / total
      }
      count[0] = total
    },
    freeze(on = true) {
      frozen[0] = on ? 1 : 0
    },
  }
}

/** What of the statistics is saved with a state. */
const statisticsArrays = ({ mean, variance, count, frozen }: RunningMeanStd) => ({
  mean,
  variance,
  count,
  frozen,
})

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

/**
 * Rewards over the running standard deviation of the discounted return, not centred, as Gymnasium's vector
 * `NormalizeReward`: the return of an environment becomes `return * gamma * (1 - terminated) + reward`, so that it goes on over a
 * truncation and is 0 only after a reset by hand. Steps that only begin an episode do not count. `returns` stay those of
 * the rewards inside.
 *
 * `rewardStatistics.freeze()` keeps the statistics as they are, as for evaluation.
 */
export function normaliseRewards<E extends AnyVector>(
  env: E,
  { gamma = 0.99, epsilon = 1e-8 }: { gamma?: number; epsilon?: number } = {},
): E & { readonly rewardStatistics: RunningMeanStd } {
  if (!(gamma >= 0 && gamma <= 1)) {
    throw new AgogeError('gamma is a discount factor', {
      code: 'bad-argument',
      given: gamma,
      expected: 'a number from 0 to 1',
    })
  }
  const count = env.rewards.length
  const rewards = new Float64Array(count)
  const discounted = new Float64Array(count)
  const acted = new Uint8Array(count)
  const statistics = createRunningMeanStd(1)
  const sameStep = env.autoreset === 'same-step'
  const wrapped = wrapVector(
    env,
    { rewards },
    {
      arrays: () => ({ ...statisticsArrays(statistics), rewards, discounted }),
      reset(mask) {
        for (let i = 0; i < count; i++) {
          if (mask !== undefined && mask[i] !== 1) continue
          rewards[i] = 0
          discounted[i] = 0
        }
      },
      step({ first }) {
        for (let i = 0; i < count; i++) {
          acted[i] = first[i] === 1 && !sameStep ? 0 : 1
          if (acted[i] === 0) continue
          discounted[i] = discounted[i] * gamma * (1 - env.terminated[i]) + env.rewards[i]
        }
        statistics.update(discounted, acted)
        const scale = Math.sqrt(statistics.variance[0] + epsilon)
        for (let i = 0; i < count; i++) rewards[i] = env.rewards[i] / scale
      },
    },
  )
  return { ...wrapped, rewardStatistics: statistics }
}
