import { type Activation, compileObjective } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { rowSize } from '../../environment/index.ts'
import { type Encoder, mlpActorCritic } from '../../policy/index.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { checkMinibatches, checkSettings } from '../check-settings.ts'
import { overNormalised, overWindow } from '../wrap-algorithm.ts'
import { onPolicyAgent } from './on-policy-agent.ts'
import {
  createPpoParameters,
  createPpoUpdate,
  ppoMinibatchLoss,
  type PpoLossConfig,
  type PpoUpdateConfig,
} from './ppo-update.ts'
import { type CarriedGruEncoder, recurrentPpo } from './recurrent-ppo.ts'
import { createRollout } from './rollout.ts'

/** Settings of `ppo`. `ppoPresets` has those of published runs. */
export interface PpoConfig extends PpoLossConfig, PpoUpdateConfig {
  /** Steps of each environment between updates. */
  rolloutSteps: number
  minibatches: number
  gamma: number
  lambda: number
  hidden: readonly number[]
  activation: Activation
  /** Initialises weights orthogonally; false: uniformly, as PyTorch's layers do. Default: true. */
  orthogonal?: boolean
  /**
   * Normalises observations and rewards by running statistics, as Gymnasium's wrappers do, and clips to [-10, 10].
   * Default: false.
   */
  normalise?: boolean
  /** Default: `mlp`. A `gru` without a window carries its state from step to step: recurrent PPO. */
  encoder?: Encoder | CarriedGruEncoder
}

/** CleanRL `ppo.py`. */
const cleanrl = {
  numEnvs: 4,
  rolloutSteps: 128,
  epochs: 4,
  minibatches: 4,
  learningRate: 2.5e-4,
  gamma: 0.99,
  lambda: 0.95,
  clip: 0.2,
  clipValue: true,
  entropy: 0.01,
  valueWeight: 0.5,
  maxGradientNorm: 0.5,
  anneal: ['learningRate'],
  hidden: [64, 64],
  activation: 'tanh',
} as const

/** RL Baselines3 Zoo, `ppo.yml`, CartPole-v1. */
const zooCartPole = {
  numEnvs: 8,
  rolloutSteps: 32,
  epochs: 20,
  minibatches: 1,
  learningRate: 1e-3,
  gamma: 0.98,
  lambda: 0.8,
  clip: 0.2,
  clipValue: false,
  entropy: 0,
  valueWeight: 0.5,
  maxGradientNorm: 0.5,
  anneal: ['learningRate', 'clip'],
  hidden: [64, 64],
  activation: 'tanh',
} as const

/**
 * Settings of published runs, named after their source. `numEnvs` is their number of environments.
 *
 * @example
 * const { numEnvs, ...config } = ppoPresets.cleanrl
 * await trainClassic({ definition: cartPole, algorithm: ppo(config), numEnvs, steps: 500_000 })
 */
export const ppoPresets = {
  cleanrl,
  /** CleanRL `ppo_continuous_action.py`, for robots of MuJoCo. */
  'cleanrl-continuous': {
    ...cleanrl,
    numEnvs: 1,
    rolloutSteps: 2048,
    epochs: 10,
    minibatches: 32,
    learningRate: 3e-4,
    entropy: 0,
    normalise: true,
  },
  /** PureJaxRL's settings for MinAtar (`examples/brax_minatar.ipynb`), with flat observations. */
  'purejaxrl-minatar': { ...cleanrl, numEnvs: 64, minibatches: 8, learningRate: 5e-3, activation: 'relu' },
  'sb3-zoo-cartpole': zooCartPole,
  /** `ppo_lstm.yml`, CartPoleNoVel-v1, with GRUs of the same size instead of LSTMs. */
  'sb3-zoo-cartpole-positions': {
    ...zooCartPole,
    hidden: [64],
    activation: 'relu',
    orthogonal: false,
    normalise: true,
    encoder: { kind: 'gru', size: 64 },
  },
} as const satisfies Record<string, PpoConfig & { numEnvs: number }>

/**
 * Proximal policy optimisation with a clipped surrogate (Schulman et al. 2017, arXiv:1707.06347), with the details
 * of Huang et al. 2022 ("The 37 implementation details"): separate networks, orthogonal weights, advantages
 * normalised per minibatch, Adam with epsilon 1e-5. `klPenalty` selects the variant of the paper with an adaptive
 * penalty. A truncated episode is bootstrapped with the value of its last observation.
 *
 * @throws AgogeError `bad-argument` for settings outside their range, or that do not fit the number of
 * environments
 * @example
 * const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
 * const { agent } = await trainClassic({ definition: cartPole, algorithm: ppo(config), numEnvs, steps: 100_000 })
 */
export function ppo(settings: PpoConfig): ClassicAlgorithm {
  const { encoder, normalise = false, ...config } = checkSettings(settings)
  const algorithm =
    encoder?.kind === 'gru' && encoder.window === undefined
      ? recurrentPpo({ ...config, encoder })
      : overWindow(encoder, feedForwardPpo(config, encoder))
  return normalise ? overNormalised(algorithm, config.gamma) : algorithm
}

const feedForwardPpo =
  (config: PpoConfig, encoder: Encoder | undefined): ClassicAlgorithm =>
  async (environment, { seed, totalSteps, threads = 1, batch }) => {
    const { definition } = environment
    const numEnvs = environment.envs.count
    const policy = mlpActorCritic(definition, { ...config, encoder })
    const random = createRandom('ppo', seed)
    const learned = createPpoParameters(policy.specs, random.split('parameters'), config)
    const { parameters } = learned
    const shapes = Object.fromEntries(Object.entries(policy.specs).map(([name, { shape }]) => [name, shape]))
    const width = rowSize(definition.observation)
    const choices = environment.actionMask.length / numEnvs
    checkMinibatches(config.minibatches, numEnvs * config.rolloutSteps)
    const rollout = createRollout(environment, config.rolloutSteps, policy.distribution.actionSize)
    const objective = await compileObjective({
      name: 'ppo',
      threads,
      batch,
      meanOver: 'B',
      gradient: learned.adam.own.gradient,
      parameters: shapes,
      inputs: {
        observations: { shape: ['B', width] },
        actions: { shape: ['B', policy.distribution.actionSize] },
        logprobs: { shape: ['B'] },
        values: { shape: ['B'] },
        advantages: { shape: ['B'] },
        returns: { shape: ['B'] },
        clip: { shape: [1] },
        ...(config.klPenalty === undefined ? {} : { beta: { shape: [1] } }),
        ...(choices > 0 ? { maskPenalty: { shape: ['B', choices] } } : {}),
      },
      trace: (weights, inputs) =>
        ppoMinibatchLoss(config, policy.distribution, policy.trace(weights, inputs['observations']), inputs),
    })
    const updating = createPpoUpdate(config, learned, objective)
    const drawing = random.split('actions')
    return onPolicyAgent(environment, config, totalSteps, {
      policy,
      parameters,
      rollout,
      drawing,
      update: (left) => updating.run(left, () => rollout.minibatches(config.minibatches, drawing)),
      storage: { update: updating },
      dispose: () => objective.dispose(),
    })
  }
