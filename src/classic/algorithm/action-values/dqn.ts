import { abs, less, mul, reshape, square, sub, where } from '../../../engine/tensor/index.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { type ReplayQConfig, replayQLearning } from './replay-q-learning.ts'

/** Settings of `dqn`. `dqnPresets` has those of published runs. */
export interface DqnConfig extends ReplayQConfig {
  /** Squared error, or Huber's loss, which is linear beyond 1. */
  loss: 'squared' | 'huber'
}

/** Plain DQN: all variants off. */
const plain = {
  double: false,
  dueling: false,
  noisy: false,
  prioritised: false,
  nSteps: 1,
} as const

/** CleanRL's networks and schedule, shared by its DQN and C51. */
export const cleanrlReplay = {
  ...plain,
  numEnvs: 1,
  learningRate: 2.5e-4,
  adamEpsilon: 1e-8,
  maxGradientNorm: null,
  gamma: 0.99,
  bufferSize: 10_000,
  batchSize: 128,
  learningStarts: 10_000,
  trainEvery: 10,
  gradientSteps: 1,
  targetEvery: 500,
  tau: 1,
  epsilonStart: 1,
  epsilonEnd: 0.05,
  explorationFraction: 0.5,
  hidden: [120, 84],
  activation: 'relu',
} as const

/** Settings that Stable-Baselines3's DQN and QR-DQN share in the zoo. */
export const zooReplay = {
  'cart-pole': {
    ...plain,
    numEnvs: 1,
    learningRate: 2.3e-3,
    gamma: 0.99,
    bufferSize: 100_000,
    batchSize: 64,
    learningStarts: 1000,
    trainEvery: 256,
    gradientSteps: 128,
    targetEvery: 10,
    tau: 1,
    epsilonStart: 1,
    epsilonEnd: 0.04,
    explorationFraction: 0.16,
    hidden: [256, 256],
    activation: 'relu',
  },
  'mountain-car': {
    ...plain,
    numEnvs: 1,
    learningRate: 4e-3,
    gamma: 0.98,
    bufferSize: 10_000,
    batchSize: 128,
    learningStarts: 1000,
    trainEvery: 16,
    gradientSteps: 8,
    targetEvery: 600,
    tau: 1,
    epsilonStart: 1,
    epsilonEnd: 0.07,
    explorationFraction: 0.2,
    hidden: [256, 256],
    activation: 'relu',
  },
} as const

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const dqnPresets = {
  /** CleanRL `dqn.py`. */
  cleanrl: { ...cleanrlReplay, loss: 'squared' },
  /** RL Baselines3 Zoo, `dqn.yml`, CartPole-v1 (50k steps), with the defaults of Stable-Baselines3. */
  'sb3-zoo-cartpole': { ...zooReplay['cart-pole'], adamEpsilon: 1e-8, maxGradientNorm: 10, loss: 'huber' },
  /** RL Baselines3 Zoo, `dqn.yml`, MountainCar-v0 (120k steps). */
  'sb3-zoo-mountain-car': {
    ...zooReplay['mountain-car'],
    adamEpsilon: 1e-8,
    maxGradientNorm: 10,
    loss: 'huber',
  },
} as const satisfies Record<string, DqnConfig & { numEnvs: number }>

/**
 * Deep Q-networks (Mnih et al. 2015, doi:10.1038/nature14236). Options: double (van Hasselt et al. 2016,
 * arXiv:1509.06461), dueling (Wang et al. 2016, arXiv:1511.06581), prioritised replay (Schaul et al. 2016,
 * arXiv:1511.05952), n-step returns, noisy networks (Fortunato et al. 2018, arXiv:1706.10295).
 *
 * @throws AgogeError `bad-argument` for settings outside their range; the agent throws `unsupported-space` for
 * actions that are not discrete
 * @example
 * const { numEnvs, ...config } = dqnPresets['sb3-zoo-cartpole']
 * await trainClassic({ definition: cartPole, algorithm: dqn(config), numEnvs, steps: 50_000 })
 */
export const dqn = (config: DqnConfig): ClassicAlgorithm =>
  replayQLearning(config, {
    name: 'dqn',
    atoms: 1,
    values(numbers, count, to) {
      for (let i = 0; i < count; i++) to[i] = numbers[i]
    },
    targets({ rows, returns, discounts }, next, to) {
      for (let r = 0; r < rows; r++) to[r] = returns[r] + discounts[r] * next[r]
    },
    loss(numbers, targets) {
      const difference = reshape(sub(targets, numbers), [numbers.shape[0]])
      const errors = abs(difference)
      const squared = square(difference)
      return {
        errors,
        losses:
          config.loss === 'squared' ? squared : where(less(errors, 1), mul(squared, 0.5), sub(errors, 0.5)),
      }
    },
  })
