import { AgogeError } from '../../../error.ts'
import { box, describeSpace, rowSize } from '../space.ts'
import type { AnyVector } from '../vector.ts'
import { wrapObservations, wrapVector } from './wrap-vector.ts'

/** Running mean and variance of all rows seen so far. */
export interface RunningMeanStd {
  /** [width]. */
  readonly mean: Float64Array
  /** [width]: the population variance, not the sample variance. */
  readonly variance: Float64Array
  /** [1]: number of rows seen, plus the initial count. */
  readonly count: Float64Array
  /** [1]: 1 while updates are ignored. */
  readonly frozen: Uint8Array
  /** Adds [n, width] rows. With `which`, only the rows where it is 1. Allocates nothing. */
  update(rows: ArrayLike<number>, which?: Uint8Array): void
  /** Stops or resumes updates, for example for an evaluation. */
  freeze(frozen?: boolean): void
}

/**
 * Running statistics as in Gymnasium's `RunningMeanStd`. Merges batches by the formula of Chan, Golub and
 * LeVeque (1979). Starts with mean 0, variance 1 and a count of `epsilon`. Computes in double precision;
 * Gymnasium uses float32 for float32 observations.
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

/** The part of the statistics that is saved with a state. */
const statisticsArrays = ({ mean, variance, count, frozen }: RunningMeanStd) => ({
  mean,
  variance,
  count,
  frozen,
})

/**
 * Subtracts the running mean from observations and divides by the running standard deviation, as Gymnasium's
 * `NormalizeObservation`. Each step first adds all its rows to the statistics, then normalises them. Every
 * observation counts once, including the last one of an episode, in all three modes of autoreset. `epsilon` is
 * added to the variance.
 *
 * For an evaluation, pass the `statistics` of the training vector: they are used without updates. Or call
 * `observationStatistics.freeze()` to stop updates.
 *
 * @example
 * const train = normaliseObservations(createVectorEnvironment(cartPole, { numEnvs: 8 }))
 * const test = normaliseObservations(createVectorEnvironment(cartPole, { numEnvs: 1 }), {
 *   statistics: train.observationStatistics,
 * })
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
 * Divides rewards by the running standard deviation of the discounted return, without centring, as Gymnasium's
 * vector `NormalizeReward`. The running return becomes `return * gamma * (1 - terminated) + reward`. It
 * continues over a truncation; only a manual reset sets it to 0. Steps that only begin an episode do not count.
 * `returns` still has the sums of the original rewards.
 *
 * `rewardStatistics.freeze()` stops updates, for example for an evaluation.
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
