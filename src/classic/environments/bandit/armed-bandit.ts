import { discrete } from '../../environment/index.ts'
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

export interface RewardKind<Extra extends string> {
  name: string
  /** The mean of an arm of an instance. */
  draw: (instance: number, arm: number) => number
  mean: ContextFeature
  /** Further features, in the context before horizon, which is followed by instance or means. */
  extra: Readonly<Record<Extra, ContextFeature>>
  /** A reward, with the value of the first extra feature. */
  reward: (mean: number, extra: number, random: EnvironmentRandom) => number
}

/** A bandit whose arms have means that stay as they are through an episode. State: pulls, last arm, means. */
export function createArmedBandit<Extra extends string>(
  kind: RewardKind<Extra>,
  { arms = 10, horizon = 100, means = 'drawn', name = kind.name }: ArmedBanditOptions,
): BanditDefinition {
  const drawn = means === 'drawn'
  const extras = Object.keys(kind.extra).length
  const meanFeatures = Object.fromEntries(
    Array.from({ length: arms }, (_, arm) => [
      `mean${arm}`,
      { ...kind.mean, default: kind.draw(0, arm), about: `mean of arm ${arm}` },
    ]),
  )
  const context: ContextSpace = {
    ...kind.extra,
    horizon: horizonFeature(horizon),
    ...(drawn ? { instance: instanceFeature } : meanFeatures),
  }
  const features = Object.keys(context).length
  const stateSize = 2 + arms
  return {
    name,
    arms,
    observation: discrete(1),
    action: discrete(arms),
    context,
    stateSize,
    reset({ state, context }, i) {
      const s = i * stateSize
      const first = i * features + extras + 1
      state[s] = 0
      state[s + 1] = 0
      for (let arm = 0; arm < arms; arm++)
        state[s + 2 + arm] = drawn ? kind.draw(context[first], arm) : context[first + arm]
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const s = i * stateSize
      const c = i * features
      rewards[i] = kind.reward(state[s + 2 + actions[i]], context[c], random)
      state[s + 1] = actions[i]
      terminated[i] = ++state[s] >= context[c + extras] ? 1 : 0
    },
    observe({ observations }, i) {
      observations[i] = 0
    },
    armMean: ({ state }, i, arm) => state[i * stateSize + 2 + arm],
    text: ({ state, context, rewards }, i) =>
      pullText(state[i * stateSize], context[i * features + extras], state[i * stateSize + 1], rewards[i]),
  }
}
