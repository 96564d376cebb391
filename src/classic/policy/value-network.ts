import { layerNorm, linear, orthogonal, uniformValues } from '../../engine/nn/index.ts'
import type { Activation, ParameterSpec } from '../../engine/nn/index.ts'
import { add, mean, relu, reshape, silu, slice, sub, tanh } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { kernelForward } from './kernel-forward.ts'
import type { Network } from './network.ts'

export interface ValueNetworkOptions {
  inputs: number
  hidden: readonly number[]
  actions: number
  /** Numbers for each action: 1 (default), or those of a distribution. */
  atoms?: number
  /** Default relu. */
  activation?: Activation
  /** A value and advantages less their mean, added up (Wang et al. 2016, arXiv:1511.06581). */
  dueling?: boolean
  /** Layer normalisation between each hidden layer and its activation. */
  layerNorm?: boolean
  /**
   * `torch` (default): weights and biases uniform within 1 / sqrt(inputs), as PyTorch's linear layers begin.
   * `orthogonal`: gain sqrt 2, no biases.
   */
  initialise?: 'torch' | 'orthogonal'
}

const traced = { relu, silu, tanh }

/** An MLP from observations to `atoms` numbers for each action: [rows, actions * atoms], an action's side by side. */
export function valueNetwork(options: ValueNetworkOptions): Network {
  const { inputs, hidden, actions, atoms = 1, activation = 'relu', dueling = false } = options
  const outputs = actions * atoms
  const widths = [inputs, ...hidden, outputs + (dueling ? atoms : 0)]
  const layers = widths.slice(1).map((to, i) => ({
    weight: `${i}.weight`,
    bias: `${i}.bias`,
    norm: options.layerNorm === true && i < hidden.length ? `${i}.norm` : undefined,
    from: widths[i],
    to,
  }))
  const specs: Record<string, ParameterSpec> = {}
  for (const { weight, bias, norm, from, to } of layers) {
    const limit = 1 / Math.sqrt(from)
    const isTorch = options.initialise !== 'orthogonal'
    specs[weight] = {
      shape: [to, from],
      initialise: (random) =>
        isTorch ? uniformValues(random, to * from, limit) : orthogonal(random, to, from, Math.SQRT2),
    }
    specs[bias] = {
      shape: [to],
      initialise: (random) => (isTorch ? uniformValues(random, to, limit) : new Float32Array(to)),
    }
    if (norm === undefined) continue
    specs[`${norm}.weight`] = { shape: [to], initialise: () => new Float32Array(to).fill(1) }
    specs[`${norm}.bias`] = { shape: [to], initialise: () => new Float32Array(to) }
  }
  const trace: Network['trace'] = (parameters, x) => {
    let h = x
    for (const { weight, bias, norm } of layers) {
      h = linear(h, { weight: parameters[weight], bias: parameters[bias] })
      if (weight === layers.at(-1)!.weight) break
      if (norm !== undefined) h = layerNorm(h, parameters[`${norm}.weight`], parameters[`${norm}.bias`])
      h = traced[activation](h)
    }
    return dueling ? join(h, actions, atoms) : h
  }
  return { inputs, outputs, specs, trace, forward: kernelForward({ inputs, specs, trace }) }
}

/** x [B, atoms * (1 + actions)], the value first. */
function join(x: Tensor, actions: number, atoms: number): Tensor {
  const [rows] = x.shape
  const value = reshape(slice(x, { axis: 1, start: 0, end: atoms }), [rows, 1, atoms])
  const advantages = reshape(slice(x, { axis: 1, start: atoms }), [rows, actions, atoms])
  const centred = sub(advantages, mean(advantages, { axes: [1], keepDims: true }))
  return reshape(add(value, centred), [rows, actions * atoms])
}
