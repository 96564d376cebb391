import { linear, orthogonal } from '../../engine/nn/index.ts'
import type { Activation, ParameterSpec } from '../../engine/nn/index.ts'
import { relu, silu, tanh } from '../../engine/tensor/index.ts'
import { kernelForward } from './kernel-forward.ts'
import type { Network } from './network.ts'

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

/** to [rows, outputs] = x [rows, inputs] weight^T + bias. Four outputs at a time share the reading of x. */
export function dense(
  x: Float32Array,
  weight: Float32Array,
  bias: Float32Array,
  rows: number,
  inputs: number,
  outputs: number,
  to: Float32Array,
): void {
  const blocked = outputs - (outputs % 4)
  for (let r = 0; r < rows; r++) {
    const at = r * inputs
    const write = r * outputs
    for (let o = 0; o < blocked; o += 4) {
      let a = bias[o]
      let b = bias[o + 1]
      let c = bias[o + 2]
      let d = bias[o + 3]
      let w = o * inputs
      for (let k = at; k < at + inputs; k++, w++) {
        const value = x[k]
        a += value * weight[w]
        b += value * weight[w + inputs]
        c += value * weight[w + 2 * inputs]
        d += value * weight[w + 3 * inputs]
      }
      to[write + o] = a
      to[write + o + 1] = b
      to[write + o + 2] = c
      to[write + o + 3] = d
    }
    for (let o = blocked; o < outputs; o++) {
      let sum = bias[o]
      for (let k = 0; k < inputs; k++) sum += x[at + k] * weight[o * inputs + k]
      to[write + o] = sum
    }
  }
}

/** In place. */
export function activate(activation: Activation, values: Float32Array, count: number): void {
  if (activation === 'relu') for (let i = 0; i < count; i++) values[i] = values[i] > 0 ? values[i] : 0
  else if (activation === 'tanh') for (let i = 0; i < count; i++) values[i] = Math.tanh(values[i])
  else for (let i = 0; i < count; i++) values[i] /= 1 + Math.exp(-values[i])
}
