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

/** An environment that the training loop has already stepped, so that `step` returns nothing. */
type ReadOnlyEnvironment = Omit<AnyVector, 'step'> & { step(): void }

/**
 * A read-only view of the environment, for wrappers inside an algorithm. The training loop steps the environment,
 * so `step` does nothing. The loop also starts the first episodes, so `reset` does nothing before `begun`; later
 * resets, which the algorithm asks for, are passed on.
 *
 * @param begun returns true once the algorithm has read the first observations.
 */
export const readOnly = (environment: AnyVector, begun: () => boolean): ReadOnlyEnvironment => ({
  ...environment,
  reset: (options) => (begun() ? environment.reset(options) : undefined),
  step: () => {},
  state: () => ({ arrays: {}, streams: [], episodes: [] }),
  restore: () => {},
})

/**
 * Returns the same algorithm on a window of observations: the last ones of the episode, side by side, newest last.
 * The encoder sets the length. At the start of an episode, the first observation fills the window. An encoder
 * without a window returns the algorithm unchanged.
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

/** The last `window` observations of an episode, in the memory that `predict` is given. */
function windowMemory(window: number, width: number) {
  /** For each row: 1 once it has seen an observation, then its window. */
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

/**
 * Normalised values are clipped to this, as in Stable-Baselines3's `VecNormalize`. Gymnasium's wrappers do not
 * clip.
 */
const widest = 10

function clip(values: Float32Array | Float64Array): void {
  for (let i = 0; i < values.length; i++) values[i] = Math.max(-widest, Math.min(widest, values[i]))
}

/**
 * Returns the same algorithm on normalised observations and rewards, both clipped to [-10, 10]. Observations lose
 * their running mean and are divided by their running standard deviation, as in Gymnasium's
 * `NormalizeObservation`. Rewards are divided by the standard deviation of the discounted return, as in
 * Gymnasium's vector `NormalizeReward`. The return continues over a truncation, where that of Stable-Baselines3's
 * `VecNormalize` starts anew; at a termination it is the last reward alone. Discrete observations stay unchanged.
 * Evaluations use the current statistics of training.
 *
 * @param gamma discount of the return
 */
export const overNormalised =
  (algorithm: ClassicAlgorithm, gamma: number): ClassicAlgorithm =>
  async (environment, options) => {
    const width = rowSize(environment.definition.observation)
    let begun = false
    const inner = readOnly(environment, () => begun)
    const { observation } = environment.definition
    // The number of a discrete observation is not a quantity. Networks see it one-hot.
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
