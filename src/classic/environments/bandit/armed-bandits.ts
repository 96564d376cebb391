import { defined } from '../../../defined.ts'
import { uniformAt } from '../../../engine/random/index.ts'
import {
  type ContextFeature,
  type ContextSpace,
  defineEnvironment,
  discrete,
  type EnvironmentRandom,
} from '../../environment/index.ts'
import { type BanditDefinition, horizonFeature, instanceFeature, normalAt, pullText } from './bandit.ts'

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

export const gaussianBandit = createGaussianBandit()
