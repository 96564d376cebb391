import {
  type Activation,
  linear,
  orthogonal,
  type ParameterSpec,
  uniformValues,
} from '../../engine/nn/index.ts'
import { relu, silu, tanh } from '../../engine/tensor/index.ts'
import { kernelForward, type Network } from './network.ts'

export interface MlpOptions {
  inputs: number
  /** Widths of the hidden layers. */
  hidden: readonly number[]
  outputs: number
  /** Default: tanh. */
  activation?: Activation
  /** Gains of the orthogonal initial weights: hidden layers (default: sqrt 2), last layer (default: 1). */
  gain?: number
  outputGain?: number
  /** Prefix of the parameter names, so that several networks can share one set. */
  prefix?: string
}

const traced = { relu, silu, tanh }

/** Linear layers with an activation between them and none after the last. */
export function mlpNetwork(options: MlpOptions): Network {
  const { inputs, hidden, outputs, activation = 'tanh', prefix = '' } = options
  const widths = [inputs, ...hidden, outputs]
  const layers = widths.slice(1).map((to, i) => ({
    weight: `${prefix}${i}.weight`,
    bias: `${prefix}${i}.bias`,
    from: widths[i],
    to,
    gain: i === hidden.length ? (options.outputGain ?? 1) : (options.gain ?? Math.SQRT2),
  }))
  const specs: Record<string, ParameterSpec> = {}
  for (const { weight, bias, from, to, gain } of layers) {
    specs[weight] = { shape: [to, from], initialise: (random) => orthogonal(random, to, from, gain) }
    specs[bias] = { shape: [to], initialise: () => new Float32Array(to) }
  }
  const trace: Network['trace'] = (parameters, x) =>
    layers.reduce(
      (h, { weight, bias }, i) =>
        linear(i === 0 ? h : traced[activation](h), { weight: parameters[weight], bias: parameters[bias] }),
      x,
    )
  return { inputs, outputs, specs, trace, forward: kernelForward({ inputs, specs, trace }) }
}

/**
 * An MLP with PyTorch's initialisation of linear layers: weights and biases uniform within 1 / sqrt(inputs of
 * the layer). Off-policy references (Stable-Baselines3, CleanRL) use this.
 */
export function fanInUniform(network: Network): Network {
  const specs: Record<string, ParameterSpec> = {}
  for (const [name, { shape }] of Object.entries(network.specs)) {
    const weight = network.specs[name.replace(/bias$/u, 'weight')]
    const limit = 1 / Math.sqrt(weight.shape.at(-1)!)
    const length = shape.reduce((product, n) => product * n, 1)
    specs[name] = { shape, initialise: (random) => uniformValues(random, length, limit) }
  }
  return { ...network, specs }
}
