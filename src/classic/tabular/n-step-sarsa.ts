import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { tabular } from './control.ts'
import type { TabularConfig } from './control.ts'

/**
 * Sarsa with `nSteps` rewards before the bootstrap (Sutton & Barto 2018, section 7.2). Where an episode is truncated,
 * what waits is bootstrapped from its last state.
 */
export const nStepSarsa = (config: TabularConfig & { nSteps: number }): ClassicAlgorithm =>
  tabular('n-step-sarsa', config, ({ q, actions, numEnvs }) => {
    const { gamma, stepSize, nSteps } = config
    /** Entry `slot * nSteps + k`: the pairs that wait and the discounted rewards since, the k-th modulo nSteps. */
    const arrays = {
      pairs: new Int32Array(numEnvs * nSteps),
      returns: new Float64Array(numEnvs * nSteps),
      oldest: new Int32Array(numEnvs),
      waiting: new Int32Array(numEnvs),
    }
    const { pairs, returns, oldest, waiting } = arrays
    return {
      learn({ envIndex, state, action, reward, nextState, nextAction, terminated, ended }) {
        const entry = (k: number): number => envIndex * nSteps + ((oldest[envIndex] + k) % nSteps)
        const count = ++waiting[envIndex]
        pairs[entry(count - 1)] = state * actions + action
        returns[entry(count - 1)] = 0
        for (let k = 0; k < count; k++) returns[entry(k)] += gamma ** (count - 1 - k) * reward
        const complete = ended ? count : count === nSteps ? 1 : 0
        for (let k = 0; k < complete; k++) {
          const future = terminated ? 0 : gamma ** (count - k) * q[nextState * actions + nextAction]
          const at = pairs[entry(k)]
          q[at] += stepSize * (returns[entry(k)] + future - q[at])
        }
        oldest[envIndex] = (oldest[envIndex] + complete) % nSteps
        waiting[envIndex] -= complete
      },
      state: () => Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice()])),
      restore(saved) {
        for (const [name, array] of Object.entries(arrays))
          array.set((saved as Record<string, Float64Array>)[name])
      },
    }
  })
