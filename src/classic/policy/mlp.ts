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
  /** Default tanh. */
  activation?: Activation
  /** Gain of the orthogonal first weights: of hidden layers (default sqrt 2), of the last (default 1). */
  gain?: number
  outputGain?: number
  /** Put before the names of its parameters, so that several networks share one set. */
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
 * The same network, begun as PyTorch begins linear layers: weights and biases uniform within 1 / sqrt(inputs of the
 * layer). Off-policy references (Stable-Baselines3, CleanRL) leave it at that.
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
