import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { ContextFeature, ContextSpace, EnvironmentRandom } from '../../environment/index.ts'
import { horizonFeature, instanceFeature, pullText } from './bandit-definition.ts'
import type { BanditDefinition } from './bandit-definition.ts'

export interface ArmedBanditOptions {
  /** Default 10. */
  arms?: number
  /** Pulls in an episode. Default 100. */
  horizon?: number
  /** `drawn` from the feature `instance` at reset, or each a `feature` mean0, mean1, ... Default `drawn`. */
  means?: 'drawn' | 'features'
  name?: string
}

interface RewardKind {
  name: string
  /** The mean of an arm of an instance. */
  draw: (instance: number, arm: number) => number
  mean: ContextFeature
  /** The first feature of the context, where rewards have noise. */
  noise?: ContextFeature
  /** A reward, with the value of `noise`, or 0. */
  reward: (mean: number, noise: number, random: EnvironmentRandom) => number
}

/** A bandit whose arms have means that stay as they are through an episode. State: pulls, last arm, means. */
export function createArmedBandit(
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
    ...(kind.noise === undefined ? {} : { noise: kind.noise }),
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
