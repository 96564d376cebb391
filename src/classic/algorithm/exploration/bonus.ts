import { type AnyVector, type EnvironmentDefinition, frameStack } from '../../environment/index.ts'
import {
  type ClassicAlgorithm,
  stateOfArray,
  stateOfFields,
  stateOfParts,
  type UpdateMetrics,
} from '../agent.ts'
import { readOnly } from '../wrap-algorithm.ts'

/**
 * A reward for novelty. Rows are transitions of one step, row i of environment i: observations [rows,
 * observation], actions [rows, action], and the observations that followed (before any reset).
 */
export interface ExplorationBonus {
  /** Writes the bonus of each transition into `out` [rows]. Does not learn. */
  bonus(
    observations: Float32Array,
    actions: Float32Array,
    nextObservations: Float32Array,
    rows: number,
    out: Float64Array,
  ): void
  /** Reads the transitions, and updates when an update is due. Returns the metrics of an update. */
  learn(
    observations: Float32Array,
    actions: Float32Array,
    nextObservations: Float32Array,
    rows: number,
  ): UpdateMetrics | undefined | Promise<UpdateMetrics | undefined>
  /** The complete state for an exact resume, as structured-cloneable data. */
  state(): unknown
  restore(state: unknown): void
  dispose(): Promise<void>
}

/** Makes a bonus for a vector of `numEnvs` environments. */
export interface MakeBonus {
  (
    definition: EnvironmentDefinition,
    options: { numEnvs: number; seed: number; threads: number },
  ): Promise<ExplorationBonus>
  /**
   * Number of observations in its window: the last ones of the episode, side by side, newest last. The definition
   * that it is given has such observations. Absent: the current observation only.
   */
  readonly window?: number | undefined
}

/** Running mean and variance of columns (Chan et al. 1983). */
interface RunningMoments {
  /** Adds rows [rows, columns]. */
  update(values: ArrayLike<number>, rows: number): void
  readonly mean: Float64Array
  /** Standard deviation of a column. 1 before the second row. */
  deviation(column: number): number
  state(): unknown
  restore(state: unknown): void
}

export function runningMoments(columns: number): RunningMoments {
  const mean = new Float64Array(columns)
  /** Sums of squared distances from the mean. */
  const squares = new Float64Array(columns)
  let count = 0
  return {
    mean,
    update(values, rows) {
      for (let r = 0; r < rows; r++) {
        count++
        for (let c = 0; c < columns; c++) {
          const change = values[r * columns + c] - mean[c]
          mean[c] += change / count
          squares[c] += change * (values[r * columns + c] - mean[c])
        }
      }
    },
    deviation: (column) => (count < 2 ? 1 : Math.sqrt(squares[column] / count)),
    state: () => ({ mean: mean.slice(), squares: squares.slice(), count }),
    restore(saved) {
      const state = saved as { mean: Float64Array; squares: Float64Array; count: number }
      mean.set(state.mean)
      squares.set(state.squares)
      count = state.count
    },
  }
}

/** Collects rows for an update. */
interface RecentRows {
  readonly data: Float32Array
  /** Adds rows, and ignores those that do not fit. Returns true when it is full. */
  add(rows: Float32Array, count: number): boolean
  clear(): void
  state(): unknown
  restore(state: unknown): void
}

export function recentRows(capacity: number, width: number): RecentRows {
  const data = new Float32Array(capacity * width)
  let size = 0
  return {
    data,
    add(rows, count) {
      const taken = Math.min(count, capacity - size)
      for (let i = 0; i < taken * width; i++) data[size * width + i] = rows[i]
      size += taken
      return size === capacity
    },
    clear() {
      size = 0
    },
    state: () => ({ data: data.slice(), size }),
    restore(saved) {
      const state = saved as { data: Float32Array; size: number }
      data.set(state.data)
      size = state.size
    },
  }
}

/**
 * Returns the same algorithm, trained on the reward plus `weight` times an exploration bonus. Only the learner
 * sees the sum: the returns that the environment counts, and its rewards after `learn`, are those of the task. The
 * bonus ends with the episode, because the learner has a single value function.
 *
 * @example
 * const algorithm = withBonus(ppo(config), rnd(), 0.1)
 */
export const withBonus =
  (algorithm: ClassicAlgorithm, makeBonus: MakeBonus, weight: number): ClassicAlgorithm =>
  async (environment, options) => {
    const { seed, threads = 1 } = options
    const numEnvs = environment.envs.count
    const { window } = makeBonus
    const unstepped = readOnly(environment, () => false)
    const stacked = window === undefined ? undefined : frameStack(unstepped, window)
    /** The environment as the bonus sees it. */
    const seen = stacked ?? environment
    const agent = await algorithm(resetWith(environment, stacked), options)
    const bonus = await makeBonus(seen.definition, { numEnvs, seed, threads })
    const before = new Float32Array(seen.observations.length)
    const after = new Float32Array(seen.observations.length)
    const bonuses = new Float64Array(numEnvs)
    const own = new Float64Array(numEnvs)
    const sums = { total: 0, count: 0, begun: false }

    /** Runs after acting: an agent that plays whole episodes resets the environment when it acts. */
    const look = (): void => before.set(seen.observations)

    return {
      ...agent,
      act() {
        // `stacked` only reads, so that its reset is synchronous.
        if (!sums.begun) void stacked?.reset()
        sums.begun = true
        const acting = agent.act()
        if (acting instanceof Promise) return acting.then(look)
        look()
      },
      async learn() {
        stacked?.step()
        copyFollowing(seen, environment.autoreset === 'same-step', after)
        bonus.bonus(before, seen.actions, after, numEnvs, bonuses)
        const { rewards } = environment
        own.set(rewards)
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          rewards[envIndex] += weight * bonuses[envIndex]
          sums.total += bonuses[envIndex]
          sums.count++
        }
        const metrics = await agent.learn()
        rewards.set(own)
        const learned = await bonus.learn(before, seen.actions, after, numEnvs)
        if (metrics === undefined) return undefined
        const mean = sums.total / sums.count
        sums.total = 0
        sums.count = 0
        return { ...metrics, ...learned, bonus: mean }
      },
      ...stateOfParts({
        agent,
        bonus,
        window: {
          state: () => stacked?.state(),
          restore: (saved) => stacked?.restore(saved as ReturnType<typeof environment.state>),
        },
        before: stateOfArray(before),
        ...stateOfFields(sums, ['total', 'count', 'begun']),
      }),
      async dispose() {
        await agent.dispose()
        await bonus.dispose()
      },
    }
  }

/** The environment, with a reset that also resets the stack of frames that the bonus sees. */
const resetWith = (environment: AnyVector, stacked: AnyVector | undefined): AnyVector => ({
  ...environment,
  reset(given) {
    const resetting = environment.reset(given)
    if (resetting instanceof Promise) return resetting.then(() => stacked?.reset(given))
    return stacked?.reset(given)
  },
})

/** Writes the observations that followed the actions. For an episode that has ended, this is its last observation. */
function copyFollowing(environment: AnyVector, isReset: boolean, to: Float32Array): void {
  const { terminated, truncated, observations, finalObservations } = environment
  const width = to.length / terminated.length
  for (let envIndex = 0; envIndex < terminated.length; envIndex++) {
    const ended = terminated[envIndex] === 1 || truncated[envIndex] === 1
    const from = ended && isReset ? finalObservations : observations
    for (let i = envIndex * width; i < (envIndex + 1) * width; i++) to[i] = from[i]
  }
}
