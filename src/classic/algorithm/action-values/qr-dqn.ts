import {
  abs,
  cast,
  constant,
  less,
  mean,
  mul,
  reshape,
  square,
  sub,
  sum,
  type Tensor,
  where,
} from '../../../engine/tensor/index.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { zooReplay } from './dqn.ts'
import { type ReplayQConfig, replayQLearning } from './replay-q-learning.ts'

/** Settings of `qrDqn`. `qrDqnPresets` has those of published runs. */
export interface QrDqnConfig extends ReplayQConfig {
  quantiles: number
}

/** Settings of published runs, named after their source. */
export const qrDqnPresets = {
  /** RL Baselines3 Zoo, `qrdqn.yml`, CartPole-v1 (50k steps), with the defaults of SB3-Contrib. */
  'sb3-zoo-cartpole': {
    ...zooReplay['cart-pole'],
    adamEpsilon: 0.01 / 64,
    maxGradientNorm: null,
    quantiles: 10,
  },
  /** RL Baselines3 Zoo, `qrdqn.yml`, MountainCar-v0 (120k steps). */
  'sb3-zoo-mountain-car': {
    ...zooReplay['mountain-car'],
    adamEpsilon: 0.01 / 128,
    maxGradientNorm: null,
    quantiles: 25,
  },
} as const satisfies Record<string, QrDqnConfig & { numEnvs: number }>

/** QR-DQN: learns quantiles of the returns by quantile regression (Dabney et al. 2018, arXiv:1710.10044). */
export const qrDqn = (config: QrDqnConfig): ClassicAlgorithm => {
  const atoms = config.quantiles
  return replayQLearning(config, {
    name: 'qr-dqn',
    atoms,
    values(quantiles, count, to) {
      for (let i = 0; i < count; i++) {
        let sum = 0
        for (let k = i * atoms; k < (i + 1) * atoms; k++) sum += quantiles[k]
        to[i] = sum / atoms
      }
    },
    targets({ rows, returns, discounts }, next, to) {
      for (let r = 0; r < rows; r++)
        for (let k = r * atoms; k < (r + 1) * atoms; k++) to[k] = returns[r] + discounts[r] * next[k]
    },
    loss(quantiles, targets) {
      const losses = quantileHuberLoss(quantiles, targets, atoms)
      return { losses, errors: losses }
    },
  })
}

/**
 * Quantile regression with Huber's loss, which is linear beyond 1. From quantiles [B, n] and samples [B, n],
 * computes the sum over quantiles of the mean over samples, [B] (Dabney et al. 2018, equation 10).
 */
export function quantileHuberLoss(quantiles: Tensor, samples: Tensor, n: number): Tensor {
  const [rows] = quantiles.shape
  const levels = constant(
    Float32Array.from({ length: n }, (_, i) => (i + 0.5) / n),
    [1, n, 1],
  )
  const difference = sub(reshape(samples, [rows, 1, n]), reshape(quantiles, [rows, n, 1]))
  const size = abs(difference)
  const huber = where(less(size, 1), mul(square(difference), 0.5), sub(size, 0.5))
  const weight = abs(sub(levels, cast(less(difference, 0), 'float32')))
  return sum(mean(mul(weight, huber), { axes: [2] }), { axes: [1] })
}
