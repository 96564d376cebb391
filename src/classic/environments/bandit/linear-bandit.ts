import { box, defineEnvironment, discrete } from '../../environment/index.ts'
import { type BanditDefinition, horizonFeature, instanceFeature, normalAt, pullText } from './bandit.ts'

export interface LinearBanditOptions {
  /** Default: 5. */
  arms?: number
  /** Length of the observation before each pull. Default: 4. */
  dimensions?: number
  /** Pulls in an episode. Default: 100. */
  horizon?: number
  name?: string
}

/**
 * A contextual bandit with linear rewards (Li et al. 2010, "LinUCB"). Each pull observes x ~ N(0, I /
 * dimensions); the reward of arm a is x . theta_a plus normal noise. The thetas are standard normal over
 * instances.
 */
export function createLinearBandit({
  arms = 5,
  dimensions = 4,
  horizon = 100,
  name = 'linear-bandit',
}: LinearBanditOptions = {}): BanditDefinition {
  /** Pulls, last arm, x, theta of each arm. */
  const stateSize = 2 + dimensions + arms * dimensions
  const scale = 1 / Math.sqrt(dimensions)
  function armMean(state: Float64Array, i: number, arm: number): number {
    const x = i * stateSize + 2
    const theta = x + dimensions * (1 + arm)
    let sum = 0
    for (let k = 0; k < dimensions; k++) sum += state[x + k] * state[theta + k]
    return sum
  }
  const definition = defineEnvironment({
    name,
    observation: box([dimensions], -Infinity, Infinity),
    action: discrete(arms),
    context: {
      noise: {
        default: 0.1,
        low: 0,
        high: 0.5,
        extrapolate: [0, 2],
        about: 'standard deviation of a reward',
      },
      horizon: horizonFeature(horizon),
      instance: instanceFeature,
    },
    stateSize,
    reset({ state, context }, i, random) {
      const s = i * stateSize
      state[s] = 0
      state[s + 1] = 0
      for (let k = 0; k < dimensions; k++) state[s + 2 + k] = scale * random.normal()
      const first = s + 2 + dimensions
      for (let k = 0; k < arms * dimensions; k++) state[first + k] = normalAt(context.instance[i], 1, k)
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const s = i * stateSize
      const noise = context.noise[i]
      rewards[i] = armMean(state, i, actions[i]) + noise * random.normal()
      for (let k = 0; k < dimensions; k++) state[s + 2 + k] = scale * random.normal()
      state[s + 1] = actions[i]
      terminated[i] = ++state[s] >= context.horizon[i] ? 1 : 0
    },
    observe({ state, observations }, i) {
      for (let k = 0; k < dimensions; k++) observations[i * dimensions + k] = state[i * stateSize + 2 + k]
    },
    text: ({ state, context, rewards }, i) =>
      pullText(state[i * stateSize], context.horizon[i], state[i * stateSize + 1], rewards[i]),
  })
  return { ...definition, arms, armMean: ({ state }, i, arm) => armMean(state, i, arm) }
}

export const linearBandit = createLinearBandit()
