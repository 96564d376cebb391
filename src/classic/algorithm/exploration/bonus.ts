import { type EnvironmentDefinition, frameStack, rowSize } from '../../environment/index.ts'
import type { ClassicAlgorithm, UpdateMetrics } from '../agent.ts'
import { readOnly } from '../wrap-algorithm.ts'

/**
 * A reward for what is new to the agent. Rows are transitions of one step, row i that of environment i: observations
 * [rows, observation], actions [rows, action], the observations that followed (those before any reset).
 */
export interface ExplorationBonus {
  /** Writes the bonus of each transition into `out` [rows]; learns nothing. */
  bonus(
    observations: Float32Array,
    actions: Float32Array,
    nextObservations: Float32Array,
    rows: number,
    out: Float64Array,
  ): void
  /** Sees the transitions, and updates itself when it is time to; then gives figures. */
  learn(
    observations: Float32Array,
    actions: Float32Array,
    nextObservations: Float32Array,
    rows: number,
  ): UpdateMetrics | undefined | Promise<UpdateMetrics | undefined>
  /** Everything that it needs to go on exactly here, as structured-cloneable data. */
  state(): unknown
  restore(state: unknown): void
  dispose(): Promise<void>
}

/** Makes a bonus for an environment of which so many environments are stepped together. */
export interface MakeBonus {
  (
    definition: EnvironmentDefinition,
    options: { numEnvs: number; seed: number; threads: number },
  ): Promise<ExplorationBonus>
  /**
   * How many of the last observations of the episode its observations consist of, side by side, the newest at the end;
   * its environment is the environment so seen. Absent: the newest alone.
   */
  readonly window?: number | undefined
}

/** Mean and variance of columns of rows that come bit by bit (Chan et al. 1983). */
interface RunningMoments {
  /** Sees rows [rows, columns]. */
  update(values: ArrayLike<number>, rows: number): void
  readonly mean: Float64Array
  /** Standard deviation of a column; 1 before anything was seen. */
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

/** Rows gathered until there are enough for an update. */
interface RecentRows {
  readonly data: Float32Array
  /** Adds rows; true when it is full. What does not fit is left out. */
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
 * The same algorithm on rewards to which `weight` times an exploration bonus is added. The learner alone sees the sum:
 * the returns that the environment counts, and its rewards after `learn`, are those of the task. The bonus ends with the
 * episode, as the learner knows no other value than that of the task.
 */
export const withBonus =
  (algorithm: ClassicAlgorithm, makeBonus: MakeBonus, weight: number): ClassicAlgorithm =>
  async (environment, options) => {
    const { rewards } = environment
    const numEnvs = environment.envs.count
    const { window } = makeBonus
    const stacked =
      window === undefined
        ? undefined
        : frameStack(
            readOnly(environment, () => false),
            window,
          )
    /** What the bonus sees. */
    const seen = stacked ?? environment
    const width = rowSize(seen.definition.observation)
    const agent = await algorithm(
      {
        ...environment,
        reset(given) {
          const resetting = environment.reset(given)
          if (resetting instanceof Promise) return resetting.then(() => stacked?.reset(given))
          return stacked?.reset(given)
        },
      },
      options,
    )
    const bonus = await makeBonus(seen.definition, {
      numEnvs,
      seed: options.seed,
      threads: options.threads ?? 1,
    })
    const before = new Float32Array(numEnvs * width)
    const after = new Float32Array(numEnvs * width)
    const found = new Float64Array(numEnvs)
    const own = new Float64Array(numEnvs)
    let total = 0
    let count = 0
    let begun = false

    /** After acting: who plays whole episodes may have begun others. */
    const look = (): void => before.set(seen.observations)

    async function learn(): Promise<UpdateMetrics | undefined> {
      stacked?.step()
      const { actions, terminated, truncated, observations, finalObservations } = seen
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const ended = terminated[envIndex] === 1 || truncated[envIndex] === 1
        const from = ended && environment.autoreset === 'same-step' ? finalObservations : observations
        for (let i = envIndex * width; i < (envIndex + 1) * width; i++) after[i] = from[i]
      }
      bonus.bonus(before, actions, after, numEnvs, found)
      own.set(rewards)
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        rewards[envIndex] += weight * found[envIndex]
        total += found[envIndex]
        count++
      }
      const metrics = await agent.learn()
      rewards.set(own)
      const learned = await bonus.learn(before, actions, after, numEnvs)
      if (metrics === undefined) return undefined
      const mean = total / count
      total = 0
      count = 0
      return { ...metrics, ...learned, bonus: mean }
    }

    return {
      ...agent,
      act() {
        // It is only told, so this is done at once.
        if (!begun) void stacked?.reset()
        begun = true
        const acting = agent.act()
        if (acting instanceof Promise) return acting.then(look)
        look()
      },
      learn,
      state: () => ({
        agent: agent.state(),
        bonus: bonus.state(),
        window: stacked?.state(),
        before: before.slice(),
        total,
        count,
        begun,
      }),
      restore(saved) {
        const state = saved as {
          agent: unknown
          bonus: unknown
          window: ReturnType<typeof environment.state> | undefined
          before: Float32Array
          total: number
          count: number
          begun: boolean
        }
        agent.restore(state.agent)
        bonus.restore(state.bonus)
        if (state.window !== undefined) stacked?.restore(state.window)
        before.set(state.before)
        ;({ total, count, begun } = state)
      },
      async dispose() {
        await agent.dispose()
        await bonus.dispose()
      },
    }
  }
