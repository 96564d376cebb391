import {
  type AnyVector,
  createRunningMeanStd,
  frameStack,
  normaliseObservations,
  normaliseRewards,
  rowSize,
  type VectorState,
} from '../environment/index.ts'
import { checkRows, type Encoder, windowOf } from '../policy/index.ts'
import type { ClassicAlgorithm } from './agent.ts'

/** An environment whose steps are over before they are told. */
type ReadOnlyEnvironment = Omit<AnyVector, 'step'> & { step(): void }

/**
 * The environment for wrappers within an algorithm: the loop has stepped it already, so it is only told. The loop has also
 * begun the first episodes, so that a reset is passed on only once these have been seen: then the algorithm asks for it.
 *
 * @param begun whether they have been seen.
 */
export const readOnly = (environment: AnyVector, begun: () => boolean): ReadOnlyEnvironment => ({
  ...environment,
  reset: (options) => (begun() ? environment.reset(options) : undefined),
  step: () => {},
  state: () => ({ arrays: {}, streams: [], episodes: [] }),
  restore: () => {},
})

/**
 * The same algorithm on the last observations of the episode side by side, as many as the body sees at once, the newest at
 * the end; before there are as many, the first one stands in. Bodies without a window leave the algorithm as it is.
 */
export function overWindow(encoder: Encoder | undefined, algorithm: ClassicAlgorithm): ClassicAlgorithm {
  const window = windowOf(encoder)
  if (window === undefined) return algorithm
  return async (environment, options) => {
    let begun = false
    const stacked = frameStack(
      readOnly(environment, () => begun),
      window,
    )
    const agent = await algorithm(stacked, options)
    const windows = windowMemory(window, rowSize(environment.definition.observation))
    const { memorySize } = windows
    return {
      ...agent,
      memorySize,
      act() {
        if (!begun) void stacked.reset()
        begun = true
        return agent.act()
      },
      learn() {
        stacked.step()
        return agent.learn()
      },
      predict(observations, rows, actions, mask, memory = new Float32Array(rows * memorySize)) {
        agent.predict(windows.remember(observations, rows, memory), rows, actions, mask)
      },
      ...(agent.values === undefined
        ? {}
        : {
            values(observations, rows, to, mask) {
              const memory = new Float32Array(rows * memorySize)
              agent.values!(windows.remember(observations, rows, memory), rows, to, mask)
            },
          }),
      state: () => ({ agent: agent.state(), window: stacked.state(), begun }),
      restore(saved) {
        const state = saved as {
          agent: unknown
          window: ReturnType<typeof stacked.state>
          begun: boolean
        }
        agent.restore(state.agent)
        stacked.restore(state.window)
        begun = state.begun
      },
    }
  }
}

/** The last `window` observations of an episode, kept in the memory that `predict` is given. */
function windowMemory(window: number, width: number) {
  /** Of a row: 1 once it has seen an observation, then its window. */
  const memorySize = 1 + window * width
  return {
    memorySize,
    /** Adds the observations to the memory. Returns the windows [rows, window * width] that end with them. */
    remember(observations: Float32Array, rows: number, memory: Float32Array): Float32Array {
      checkRows(observations, rows, width)
      const windows = new Float32Array(rows * window * width)
      for (let r = 0; r < rows; r++) {
        const at = r * memorySize + 1
        const end = at + window * width
        const x = observations.subarray(r * width, (r + 1) * width)
        if (memory[at - 1] === 0) for (let k = at; k < end; k += width) memory.set(x, k)
        memory[at - 1] = 1
        memory.copyWithin(at, at + width, end)
        memory.set(x, end - width)
        windows.set(memory.subarray(at, end), r * window * width)
      }
      return windows
    },
  }
}

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
