import { discrete } from '../../environment/index.ts'
import { uniformAt } from '../../../engine/random/index.ts'
import { horizonFeature, instanceFeature, pullText } from './bandit-definition.ts'
import type { BanditDefinition } from './bandit-definition.ts'

export interface AdversarialBanditOptions {
  /** Default 10. */
  arms?: number
  /** Pulls in an episode. Default 100. */
  horizon?: number
  name?: string
}

/**
 * Rewards that an adversary fixed before the first pull (Auer et al. 2002, "The Nonstochastic Multiarmed Bandit
 * Problem"): what arm a pays at pull t, 0 or 1, depends on nothing but the instance. Every `period` pulls another arm
 * becomes the favoured one, which pays more often by `gap`; so that what was learned misleads. `armMean` is an arm's
 * mean over the episode's sequence: regret against it is that against the best fixed arm.
 */
export function createAdversarialBandit({
  arms = 10,
  horizon = 100,
  name = 'adversarial-bandit',
}: AdversarialBanditOptions = {}): BanditDefinition {
  const features = 4
  function payoff(context: Float64Array, i: number, arm: number, pull: number): number {
    const c = i * features
    const instance = context[c + 3]
    const favoured = Math.floor(uniformAt(instance, 1, Math.floor(pull / context[c + 1])) * arms)
    const chance = 0.5 + (arm === favoured ? 0.5 : -0.5) * context[c]
    return uniformAt(instance, 2, pull * arms + arm) < chance ? 1 : 0
  }
  return {
    name,
    arms,
    observation: discrete(1),
    action: discrete(arms),
    context: {
      gap: {
        default: 0.5,
        low: 0.2,
        high: 0.8,
        extrapolate: [0, 1],
        about: 'how much more often the favoured arm pays',
      },
      period: {
        default: 25,
        low: 10,
        high: 50,
        extrapolate: [1, 100],
        integer: true,
        about: 'pulls for which an arm is favoured',
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
      terminated[i] = ++state[i * 2] >= context[i * features + 2] ? 1 : 0
    },
    observe({ observations }, i) {
      observations[i] = 0
    },
    armMean({ context }, i, arm) {
      const horizon = context[i * features + 2]
      let sum = 0
      for (let pull = 0; pull < horizon; pull++) sum += payoff(context, i, arm, pull)
      return sum / horizon
    },
    text: ({ state, context, rewards }, i) =>
      pullText(state[i * 2], context[i * features + 2], state[i * 2 + 1], rewards[i]),
  }
}

export const adversarialBandit = createAdversarialBandit()
