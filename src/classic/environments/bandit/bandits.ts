import { uniformAt } from '../../../engine/random/index.ts'
import { defineEnvironment, discrete, box } from '../../environment/index.ts'
import type {
  ContextFeature,
  ContextSpace,
  EnvArrays,
  EnvironmentDefinition,
  EnvironmentRandom,
} from '../../environment/index.ts'
import { defined } from '../../../defined.ts'

/** A bandit with known expected rewards, so that regret is exact. */
export interface BanditDefinition<C extends ContextSpace = ContextSpace> extends EnvironmentDefinition<C> {
  readonly arms: number
  /** The expected reward of an arm in the current state of environment i. Call it before the step. */
  readonly armMean: (envs: EnvArrays, i: number, arm: number) => number
}

/** The highest expected reward of all arms in the current state of environment i. Call it before the step. */
export function bestArmMean(definition: BanditDefinition, envs: EnvArrays, i: number): number {
  let best = -Infinity
  for (let arm = 0; arm < definition.arms; arm++) best = Math.max(best, definition.armMean(envs, i, arm))
  return best
}

/** The expected regret of the arm in `envs.actions` against the best arm. Call it before the step. */
export const expectedRegret = (definition: BanditDefinition, envs: EnvArrays, i: number): number =>
  bestArmMean(definition, envs, i) - definition.armMean(envs, i, envs.actions[i])

/** Pulls in an episode. The last one ends it. */
const horizonFeature = (horizon: number) =>
  ({
    default: horizon,
    low: Math.min(10, horizon),
    high: Math.max(200, horizon),
    extrapolate: [Math.min(5, horizon), Math.max(500, horizon)],
    integer: true,
    about: 'pulls in an episode',
  }) as const satisfies ContextFeature

/** The context feature `instance`, the same in all bandits. */
const instanceFeature = {
  default: 0,
  low: 0,
  high: 999_999,
  extrapolate: [0, 1_999_999],
  integer: true,
  about: 'number from which the arms are drawn',
} as const satisfies ContextFeature

/** A standard normal number that depends only on the arguments (Box and Muller 1958). */
function normalAt(instance: number, purpose: number, counter: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniformAt(instance, purpose, 2 * counter)))
  return radius * Math.cos(2 * Math.PI * uniformAt(instance, purpose, 2 * counter + 1))
}

/** A line of text: number of pulls, horizon, and arm and reward of the last pull. */
function pullText(pulls: number, horizon: number, arm: number, reward: number): string {
  const last = pulls === 0 ? '' : `   arm ${arm}   reward ${reward.toFixed(3)}`
  return `pull ${pulls} of ${horizon}${last}`
}

/** Options of `createBernoulliBandit` and `createGaussianBandit`. Default `name`: that of the kind of bandit. */
export interface ArmedBanditOptions {
  /** Default: 10. */
  arms?: number
  /** Pulls in an episode. Default: 100. */
  horizon?: number
  /**
   * `drawn`: the feature `instance` determines the means at each reset. `feature`: the context has features
   * mean0, mean1, ... Default: `drawn`.
   */
  means?: 'drawn' | 'features'
  name?: string
}

interface RewardKind {
  name: string
  /** The mean of an arm of an instance. */
  draw: (instance: number, arm: number) => number
  mean: ContextFeature
  /** The context feature of the noise, if rewards have noise. */
  noise?: ContextFeature
  /** Samples a reward. `noise` is the value of the feature, or 0. */
  reward: (mean: number, noise: number, random: EnvironmentRandom) => number
}

/** A bandit with fixed means in each episode. State: pulls, last arm, means. */
function createArmedBandit(
  kind: RewardKind,
  { arms = 10, horizon = 100, means = 'drawn', name = kind.name }: ArmedBanditOptions,
): BanditDefinition {
  const drawn = means === 'drawn'
  const noisy = kind.noise !== undefined
  const meanNames = Array.from({ length: arms }, (_, arm) => `mean${arm}`)
  const meanFeatures = Object.fromEntries(
    meanNames.map((mean, arm) => [
      mean,
      { ...kind.mean, default: kind.draw(0, arm), about: `mean of arm ${arm}` },
    ]),
  )
  const features: ContextSpace = {
    ...defined({ noise: kind.noise }),
    horizon: horizonFeature(horizon),
    ...(drawn ? { instance: instanceFeature } : meanFeatures),
  }
  const stateSize = 2 + arms

  const definition = defineEnvironment({
    name,
    observation: discrete(1),
    action: discrete(arms),
    context: features,
    stateSize,
    reset({ state, context }, i) {
      const s = i * stateSize
      state[s] = 0
      state[s + 1] = 0
      for (let arm = 0; arm < arms; arm++)
        state[s + 2 + arm] = drawn ? kind.draw(context.instance[i], arm) : context[meanNames[arm]][i]
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const s = i * stateSize
      rewards[i] = kind.reward(state[s + 2 + actions[i]], noisy ? context.noise[i] : 0, random)
      state[s + 1] = actions[i]
      terminated[i] = ++state[s] >= context.horizon[i] ? 1 : 0
    },
    observe({ observations }, i) {
      observations[i] = 0
    },
    text: ({ state, context, rewards }, i) =>
      pullText(state[i * stateSize], context.horizon[i], state[i * stateSize + 1], rewards[i]),
  })
  return { ...definition, arms, armMean: ({ state }, i, arm) => state[i * stateSize + 2 + arm] }
}

/**
 * Arms with Bernoulli rewards. The probability of each arm is uniform in [0, 1] over instances (as in Duan et
 * al. 2016, "RL^2"). Nothing is observed. A step is a pull; an episode has `horizon` pulls.
 */
export const createBernoulliBandit = (options: ArmedBanditOptions = {}): BanditDefinition =>
  createArmedBandit(
    {
      name: 'bernoulli-bandit',
      draw: (instance, arm) => uniformAt(instance, 1, arm),
      mean: { default: 0.5, low: 0, high: 1, about: '' },
      reward: (mean, _, random) => (random.random() < mean ? 1 : 0),
    },
    options,
  )

/** `createBernoulliBandit` with its defaults: 10 arms, 100 pulls in an episode. */
export const bernoulliBandit = createBernoulliBandit()

/**
 * Arms whose reward is their mean plus normal noise. Means are standard normal over instances (the 10-armed
 * testbed of Sutton & Barto 2018, section 2.3). Nothing is observed. A step is a pull; an episode has `horizon`
 * pulls.
 */
export const createGaussianBandit = (options: ArmedBanditOptions = {}): BanditDefinition =>
  createArmedBandit(
    {
      name: 'gaussian-bandit',
      draw: (instance, arm) => normalAt(instance, 1, arm),
      mean: { default: 0, low: -2, high: 2, extrapolate: [-4, 4], about: '' },
      noise: {
        default: 1,
        low: 0.1,
        high: 1.5,
        extrapolate: [0, 3],
        about: 'standard deviation of a reward',
      },
      reward: (mean, noise, random) => mean + noise * random.normal(),
    },
    options,
  )

/** `createGaussianBandit` with its defaults: 10 arms, 100 pulls in an episode. */
export const gaussianBandit = createGaussianBandit()

/** Options of `createLinearBandit`. Default `name`: `linear-bandit`. */
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

/** `createLinearBandit` with its defaults: 5 arms, 4 dimensions, 100 pulls in an episode. */
export const linearBandit = createLinearBandit()

/** Options of `createAdversarialBandit`. Default `name`: `adversarial-bandit`. */
export interface AdversarialBanditOptions {
  /** Default: 10. */
  arms?: number
  /** Pulls in an episode. Default: 100. */
  horizon?: number
  name?: string
}

/**
 * A bandit whose rewards an adversary fixes before the first pull (Auer et al. 2002, "The Nonstochastic
 * Multiarmed Bandit Problem"). The reward of arm a at pull t is 0 or 1 and depends only on the instance. Every
 * `period` pulls another arm becomes the best one: its probability of reward 1 is higher by `gap`. `armMean` is
 * the mean of an arm over the sequence of the episode, so regret is measured against the best fixed arm.
 */
export function createAdversarialBandit({
  arms = 10,
  horizon = 100,
  name = 'adversarial-bandit',
}: AdversarialBanditOptions = {}): BanditDefinition {
  function payoff(context: EnvArrays['context'], i: number, arm: number, pull: number): number {
    const instance = context.instance[i]
    const favoured = Math.floor(uniformAt(instance, 1, Math.floor(pull / context.period[i])) * arms)
    const chance = 0.5 + (arm === favoured ? 0.5 : -0.5) * context.gap[i]
    return uniformAt(instance, 2, pull * arms + arm) < chance ? 1 : 0
  }
  function armMean({ context }: EnvArrays, i: number, arm: number): number {
    const horizon = context.horizon[i]
    let sum = 0
    for (let pull = 0; pull < horizon; pull++) sum += payoff(context, i, arm, pull)
    return sum / horizon
  }

  const definition = defineEnvironment({
    name,
    observation: discrete(1),
    action: discrete(arms),
    context: {
      gap: {
        default: 0.5,
        low: 0.2,
        high: 0.8,
        extrapolate: [0, 1],
        about: 'how much higher the reward probability of the best arm is',
      },
      period: {
        default: 25,
        low: 10,
        high: 50,
        extrapolate: [1, 100],
        integer: true,
        about: 'pulls for which an arm stays the best',
      },
      horizon: horizonFeature(horizon),
      instance: instanceFeature,
    },
    stateSize: 2,
    reset({ state }, i) {
      state[i * 2] = 0
      state[i * 2 + 1] = 0
    },
    step({ state, context, actions, rewards, terminated }, i) {
      rewards[i] = payoff(context, i, actions[i], state[i * 2])
      state[i * 2 + 1] = actions[i]
      terminated[i] = ++state[i * 2] >= context.horizon[i] ? 1 : 0
    },
    observe({ observations }, i) {
      observations[i] = 0
    },
    text: ({ state, context, rewards }, i) =>
      pullText(state[i * 2], context.horizon[i], state[i * 2 + 1], rewards[i]),
  })
  return { ...definition, arms, armMean }
}

/** `createAdversarialBandit` with its defaults: 10 arms, 100 pulls in an episode. */
export const adversarialBandit = createAdversarialBandit()
