import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { EnvArrays } from '../../environment/index.ts'
import { uniformAt } from '../../../engine/random/index.ts'
import { type BanditDefinition, horizonFeature, instanceFeature, pullText } from './bandit.ts'

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

export const adversarialBandit = createAdversarialBandit()
