/** The steps of each environment whose n-step return is incomplete. Entry `environment * nSteps + k` of each array. */
export interface StepQueue {
  readonly observations: Float32Array
  readonly actions: Float32Array
  /** Discounted sums of the rewards since the entry. */
  readonly returns: Float64Array
  /** Adds a step of every environment: observations [numEnvs, width] and actions [numEnvs, actionSize]. */
  push(observations: Float32Array, actions: Float32Array): void
  /**
   * Adds the reward of an environment to all its waiting entries and passes on those that are complete, oldest
   * first: one after nSteps, or all at the end of the episode. `discount` multiplies the value of the next
   * state: gamma to the number of steps, or 0 after a termination. After a truncation, the value of the last
   * state still counts.
   */
  settle(envIndex: number, reward: number, terminated: boolean, truncated: boolean, keep: Keep): void
  state(): unknown
  restore(state: unknown): void
}

export type Keep = (envIndex: number, entry: number, discount: number, ended: boolean) => void

export interface StepQueueOptions {
  numEnvs: number
  nSteps: number
  gamma: number
  width: number
  actionSize: number
}

export function createStepQueue({ numEnvs, nSteps, gamma, width, actionSize }: StepQueueOptions): StepQueue {
  const arrays = {
    observations: new Float32Array(numEnvs * nSteps * width),
    actions: new Float32Array(numEnvs * nSteps * actionSize),
    returns: new Float64Array(numEnvs * nSteps),
    /** The oldest entry of each environment, and the number of its entries. */
    oldest: new Int32Array(numEnvs),
    waiting: new Int32Array(numEnvs),
  }
  const { observations, actions, returns, oldest, waiting } = arrays
  const powers = Float64Array.from({ length: nSteps + 1 }, (_, k) => gamma ** k)
  const entryAt = (envIndex: number, k: number): number =>
    envIndex * nSteps + ((oldest[envIndex] + k) % nSteps)
  return {
    observations,
    actions,
    returns,
    push(seen, done) {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const entry = entryAt(envIndex, waiting[envIndex]++)
        returns[entry] = 0
        for (let k = 0; k < width; k++) observations[entry * width + k] = seen[envIndex * width + k]
        for (let k = 0; k < actionSize; k++) actions[entry * actionSize + k] = done[envIndex * actionSize + k]
      }
    },
    settle(envIndex, reward, terminated, truncated, keep) {
      const count = waiting[envIndex]
      for (let k = 0; k < count; k++) returns[entryAt(envIndex, k)] += powers[count - 1 - k] * reward
      const ended = terminated || truncated
      if (ended) {
        for (let k = 0; k < count; k++)
          keep(envIndex, entryAt(envIndex, k), terminated ? 0 : powers[count - k], true)
        oldest[envIndex] = 0
        waiting[envIndex] = 0
      } else if (count === nSteps) {
        keep(envIndex, entryAt(envIndex, 0), powers[nSteps], false)
        oldest[envIndex] = (oldest[envIndex] + 1) % nSteps
        waiting[envIndex]--
      }
    },
    state: () => Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice()])),
    restore(saved) {
      const state = saved as Record<string, Float32Array>
      for (const [name, array] of Object.entries(arrays)) array.set(state[name])
    },
  }
}
