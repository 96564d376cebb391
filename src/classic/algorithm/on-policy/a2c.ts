import { type Activation, createAdam, createParameters, createRmsProp } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { type Encoder, mlpActorCritic } from '../../policy/index.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { checkSettings } from '../check-settings.ts'
import { gradientStep } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { compilePolicyGradient, onPolicyAgent, type PolicyGradientConfig } from './on-policy-agent.ts'
import { createRollout } from './rollout.ts'

/** Settings of `a2c`. `a2cPresets` has those of published runs. */
export interface A2cConfig extends PolicyGradientConfig {
  /** Steps of each environment between updates. */
  rolloutSteps: number
  optimiser: 'rmsprop' | 'adam'
  learningRate: number
  gamma: number
  lambda: number
  maxGradientNorm: number
  /** Scales the advantages of an update to mean 0 and standard deviation 1. */
  normaliseAdvantages: boolean
  /** Lowers the learning rate linearly to 0. */
  anneal: boolean
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const a2cPresets = {
  /** RL Baselines3 Zoo, `a2c.yml`, CartPole-v1 (500k steps), over the defaults of Stable-Baselines3's `A2C`. */
  'sb3-zoo-cartpole': {
    numEnvs: 8,
    rolloutSteps: 5,
    optimiser: 'rmsprop',
    learningRate: 7e-4,
    gamma: 0.99,
    lambda: 1,
    entropy: 0,
    valueWeight: 0.5,
    maxGradientNorm: 0.5,
    normaliseAdvantages: false,
    anneal: false,
    hidden: [64, 64],
    activation: 'tanh',
  },
} as const satisfies Record<string, A2cConfig & { numEnvs: number }>

/**
 * Advantage actor-critic, the synchronous form of A3C (Mnih et al. 2016, arXiv:1602.01783): one gradient step on
 * each rollout, with RMSprop or Adam and epsilon 1e-5, as in Stable-Baselines3. A truncated episode is
 * bootstrapped with the value of its last observation.
 */
export const a2c = (config: A2cConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, totalSteps, threads = 1, batch }) => {
    const policy = mlpActorCritic(environment.definition, config)
    const random = createRandom('a2c', seed)
    const parameters = createParameters(policy.specs, random.split('parameters'))
    const settings = { epsilon: 1e-5, maxGradientNorm: config.maxGradientNorm }
    const make = config.optimiser === 'adam' ? createAdam : createRmsProp
    const optimiser = make(parameters.data.length, settings)
    const rollout = createRollout(environment, config.rolloutSteps, policy.distribution.actionSize)
    const objective = await compilePolicyGradient(environment, policy, {
      ...config,
      name: 'a2c',
      threads,
      batch,
    })
    const drawing = random.split('actions')

    async function update(left: number) {
      const rate = config.learningRate * (config.anneal ? left : 1)
      const [batch] = rollout.minibatches(1, drawing, config.normaliseAdvantages)
      const { metrics } = await gradientStep({ objective, parameters, optimiser }, rate, batch)
      return metrics
    }

    return onPolicyAgent(environment, config, totalSteps, {
      policy,
      parameters,
      rollout,
      drawing,
      update,
      storage: { optimiser },
      dispose: () => objective.dispose(),
    })
  })
