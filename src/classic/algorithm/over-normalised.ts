import {
  createRunningMeanStd,
  normaliseObservations,
  normaliseRewards,
  rowSize,
} from '../environment/index.ts'
import type { VectorState } from '../environment/index.ts'
import { checkRows } from '../policy/index.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { readOnly } from './read-only.ts'
import type { ReadOnlyEnvironment } from './read-only.ts'

/** What is normalised is cut off here, as by Stable-Baselines3's `VecNormalize`; Gymnasium's wrappers do not cut. */
const widest = 10

function clip(values: Float32Array | Float64Array): void {
  for (let i = 0; i < values.length; i++) values[i] = Math.max(-widest, Math.min(widest, values[i]))
}

/**
 * The same algorithm on observations less their running mean over their deviation, and on rewards over the deviation of the
 * discounted return: those of Gymnasium's `NormalizeObservation` and vector `NormalizeReward`, both within 10 of 0. The return goes on over a
 * truncation, where that of Stable-Baselines3's `VecNormalize` begins anew; at a termination it is the last reward alone. Observed choices and bits stay as they are. What is evaluated is normalised by the
 * statistics of training as they are then.
 *
 * @param gamma discount of that return
 */
export const overNormalised =
  (algorithm: ClassicAlgorithm, gamma: number): ClassicAlgorithm =>
  async (environment, options) => {
    const width = rowSize(environment.definition.observation)
    let begun = false
    const inner = readOnly(environment, () => begun)
    const { observation } = environment.definition
    // The number of a choice is no quantity; networks see it one-hot.
    const isQuantity = observation.type === 'box'
    const normalised = isQuantity ? normaliseObservations(inner) : undefined
    const seen = normaliseRewards<ReadOnlyEnvironment>(normalised ?? inner, { gamma })
    const { mean, variance } = normalised?.observationStatistics ?? createRunningMeanStd(width)
    const agent = await algorithm(seen, options)

    function clipAll(): void {
      if (isQuantity) {
        clip(seen.observations)
        clip(seen.finalObservations)
      }
      clip(seen.rewards)
    }

    function normal(observations: Float32Array, rows: number): Float32Array {
      checkRows(observations, rows, width)
      if (!isQuantity) return observations
      const found = new Float32Array(rows * width)
      for (let i = 0; i < found.length; i++)
        found[i] = (observations[i] - mean[i % width]) / Math.sqrt(variance[i % width] + 1e-8)
      clip(found)
      return found
    }

    return {
      ...agent,
      act() {
        if (!begun) {
          void seen.reset()
          clipAll()
        }
        begun = true
        return agent.act()
      },
      learn() {
        seen.step()
        clipAll()
        return agent.learn()
      },
      predict: (observations, rows, actions, mask, memory) =>
        agent.predict(normal(observations, rows), rows, actions, mask, memory),
      ...(agent.values === undefined
        ? {}
        : {
            values: (observations, rows, values, mask) =>
              agent.values!(normal(observations, rows), rows, values, mask),
          }),
      state: () => ({ agent: agent.state(), statistics: seen.state(), begun }),
      restore(saved) {
        const state = saved as { agent: unknown; statistics: VectorState; begun: boolean }
        agent.restore(state.agent)
        seen.restore(state.statistics)
        begun = state.begun
      },
    }
  }
