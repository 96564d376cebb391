import { AgogeError } from '../../../error.ts'
import type { AnyVector } from '../any-vector.ts'
import { createRunningMeanStd, statisticsArrays } from './running-mean-std.ts'
import type { RunningMeanStd } from './running-mean-std.ts'
import { wrapVector } from './wrap-vector.ts'

/**
 * Rewards over the running standard deviation of the discounted return, not centred, as Gymnasium's vector
 * `NormalizeReward`: the return of a slot becomes `return * gamma * (1 - terminated) + reward`, so that it goes on over a
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
