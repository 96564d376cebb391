import { uniformAt } from '../../../engine/random/index.ts'
import { createArmedBandit } from './armed-bandit.ts'
import type { ArmedBanditOptions } from './armed-bandit.ts'
import type { BanditDefinition } from './bandit-definition.ts'

/**
 * Arms that pay 1 with a chance of their own, else 0; chances are uniform in [0, 1] over instances (as in Duan et al.
 * 2016, "RL^2"). Nothing is observed; a pull is a step, an episode has `horizon` pulls.
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
