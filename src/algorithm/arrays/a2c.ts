import { createAdam, createParameters, createRmsProp } from '../../nn/index.ts'
import type { Activation, AdamState, RmsPropState } from '../../nn/index.ts'
import { mlpActorCritic } from '../../policy/index.ts'
import type { Body } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import type { RandomState } from '../../random/index.ts'
import type { ArrayAlgorithm } from './agent.ts'
import { figures } from './figures.ts'
import { overWindow } from './over-window.ts'
import { compilePolicyGradient } from './policy-gradient.ts'
import type { PolicyGradientConfig } from './policy-gradient.ts'
import { createRollout } from './rollout.ts'

export interface A2cConfig extends PolicyGradientConfig {
  /** Steps of each slot between updates. */
  rolloutSteps: number
  optimiser: 'rmsprop' | 'adam'
  learningRate: number
  gamma: number
  lambda: number
  maxGradientNorm: number
  /** Bring the advantages of an update to mean 0 and deviation 1. */
  normaliseAdvantages: boolean
  /** The learning rate falls to 0 in a straight line. */
  anneal: boolean
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  body?: Body
}

/** Settings of published runs, by where they come from. `slots` is how many environments they use. */
export const a2cPresets = {
  /** RL Baselines3 Zoo, `a2c.yml`, CartPole-v1 (500k steps), over the defaults of Stable-Baselines3's `A2C`. */
  'sb3-zoo-cartpole': {
    slots: 8,
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
} as const satisfies Record<string, A2cConfig & { slots: number }>

interface A2cState {
  parameters: Float32Array
  optimiser: AdamState | RmsPropState
  rollout: unknown
  random: RandomState
  seen: number
}

/**
 * Advantage actor-critic, the synchronous form of A3C (Mnih et al. 2016, arXiv:1602.01783): one gradient step on each
 * rollout. RMSprop or Adam with epsilon 1e-5, as in Stable-Baselines3. A truncated episode is bootstrapped with the
 * value of its last observation.
 */
export const a2c = (config: A2cConfig): ArrayAlgorithm =>
  overWindow(config.body, async (environment, { seed, totalSteps, threads = 1 }) => {
    const slots = environment.slots.count
    const policy = mlpActorCritic(environment.world, config)
    const random = createRandom('a2c', seed)
    const parameters = createParameters(policy.specs, random.split('parameters'))
    const settings = { epsilon: 1e-5, maxGradientNorm: config.maxGradientNorm }
    const make = config.optimiser === 'adam' ? createAdam : createRmsProp
    const optimiser = make(parameters.data.length, settings)
    const rollout = createRollout(environment, config.rolloutSteps, policy.distribution.actionSize)
    const objective = await compilePolicyGradient(environment, policy, { ...config, name: 'a2c', threads })
    const drawing = random.split('actions')
    let seen = 0

    async function update() {
      rollout.finish(config, (observations, rows, values) =>
        policy.evaluate(parameters, observations, rows, values),
      )
      const rate = config.learningRate * (config.anneal ? 1 - seen / totalSteps : 1)
      const [batch] = rollout.minibatches(1, drawing, config.normaliseAdvantages)
      const { loss, outputs } = await objective.evaluate(parameters, batch)
      const gradientNorm = optimiser.step(parameters.data, objective.gradient.data, rate)
      return { loss, gradientNorm, ...figures(outputs) }
    }

    return {
      act() {
        policy.act(
          parameters,
          environment.observations,
          slots,
          rollout.next(),
          drawing,
          environment.actionMask,
        )
        rollout.acted()
      },
      learn() {
        seen += slots
        return rollout.stepped() ? update() : undefined
      },
      decide: (observations, rows, actions, mask) =>
        policy.act(parameters, observations, rows, { actions }, undefined, mask),
      values: (observations, rows, values) => policy.evaluate(parameters, observations, rows, values),
      state: (): A2cState => ({
        parameters: parameters.data.slice(),
        optimiser: optimiser.state(),
        rollout: rollout.state(),
        random: drawing.state(),
        seen,
      }),
      restore(saved) {
        const state = saved as A2cState
        parameters.data.set(state.parameters)
        optimiser.restore(state.optimiser as AdamState & RmsPropState)
        rollout.restore(state.rollout)
        drawing.restore(state.random)
        seen = state.seen
      },
      dispose: () => objective.dispose(),
    }
  })
