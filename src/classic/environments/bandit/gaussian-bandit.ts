import { createArmedBandit } from './armed-bandit.ts'
import type { ArmedBanditOptions } from './armed-bandit.ts'
import { normalAt } from './bandit-definition.ts'
import type { BanditDefinition } from './bandit-definition.ts'

/**
 * Arms that pay their mean plus normal noise; means are standard normal over instances (the 10-armed testbed of Sutton &
 * Barto 2018, section 2.3). Nothing is observed; a pull is a step, an episode has `horizon` pulls.
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
