import { linear, orthogonal, uniformValues } from '../../engine/nn/index.ts'
import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import type { Random } from '../../engine/random/index.ts'
import {
  add,
  broadcastTo,
  constant,
  mul,
  reshape,
  sigmoid,
  slice,
  sub,
  tanh,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { kernelForward, type Network } from './mlp.ts'

/** A gated recurrent unit, traced over sequences or run for one step. */
export interface GruLayer {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /**
   * Traced. The states after each of T steps, each [B, size], of x [B, T, inputs] from initial states h [B,
   * size]. The state is reset to zeros before steps where `keep` [B, T] is 0.
   */
  trace(parameters: Record<string, Tensor>, x: Tensor, h: Tensor, keep?: Tensor): Tensor[]
  /** Runs one step: updates the states h [rows, size] in place with x [rows, inputs]. */
  step(parameters: ParameterSet, x: Float32Array, h: Float32Array, rows: number): void
}

/**
 * A gated recurrent unit (Cho et al. 2014, arXiv:1406.1078) with PyTorch's equations, names and order of gates:
 * reset, update, new. h = (1 - z) n + z h, with n = tanh(W x + b + r (U h + c)). Initial weights are orthogonal
 * and biases zero. `orthogonal: false` initialises all uniformly within 1 / sqrt(size), as PyTorch.
 */
export function gruLayer(given: {
  inputs: number
  size: number
  prefix: string
  orthogonal?: boolean
}): GruLayer {
  const { inputs, size, prefix, orthogonal: isOrthogonal = true } = given
  const uniform = (random: Random, length: number): Float32Array =>
    uniformValues(random, length, 1 / Math.sqrt(size))
  const names = {
    input: { weight: `${prefix}gru.weight_ih`, bias: `${prefix}gru.bias_ih` },
    state: { weight: `${prefix}gru.weight_hh`, bias: `${prefix}gru.bias_hh` },
  }
  const specs: Record<string, ParameterSpec> = {}
  for (const [{ weight, bias }, from] of [
    [names.input, inputs],
    [names.state, size],
  ] as const) {
    specs[weight] = {
      shape: [3 * size, from],
      initialise: (random) =>
        isOrthogonal ? orthogonal(random, 3 * size, from, 1) : uniform(random, 3 * size * from),
    }
    specs[bias] = {
      shape: [3 * size],
      initialise: (random) => (isOrthogonal ? new Float32Array(3 * size) : uniform(random, 3 * size)),
    }
  }
  const layer = (parameters: Record<string, Tensor>, { weight, bias }: { weight: string; bias: string }) => ({
    weight: parameters[weight],
    bias: parameters[bias],
  })
  const gate = (x: Tensor, from: number, to: number): Tensor =>
    slice(x, { axis: 1, start: from * size, end: to * size })
  const trace: GruLayer['trace'] = (parameters, x, start, keep) => {
    const [batch, steps] = x.shape
    // One matrix product computes the input part of all steps.
    const all = linear(x, layer(parameters, names.input))
    const states: Tensor[] = []
    let h = start
    for (let t = 0; t < Number(steps); t++) {
      if (keep !== undefined) h = mul(h, slice(keep, { axis: 1, start: t, end: t + 1 }))
      const own = reshape(slice(all, { axis: 1, start: t, end: t + 1 }), [batch, 3 * size])
      const back = linear(h, layer(parameters, names.state))
      const gates = sigmoid(add(gate(own, 0, 2), gate(back, 0, 2)))
      const fresh = tanh(add(gate(own, 2, 3), mul(gate(gates, 0, 1), gate(back, 2, 3))))
      h = add(fresh, mul(gate(gates, 1, 2), sub(h, fresh)))
      states.push(h)
    }
    return states
  }
  const width = inputs + size
  const oneStep = kernelForward({
    inputs: width,
    specs,
    trace(parameters, rows) {
      const x = reshape(slice(rows, { axis: 1, start: 0, end: inputs }), [rows.shape[0], 1, inputs])
      return trace(parameters, x, slice(rows, { axis: 1, start: inputs }))[0]
    },
  })
  /** Concatenates x and h. */
  let joined = new Float32Array(0)
  return {
    specs,
    trace,
    step(parameters, x, h, rows) {
      if (joined.length < rows * width) joined = new Float32Array(rows * width)
      for (let r = 0; r < rows; r++) {
        for (let k = 0; k < inputs; k++) joined[r * width + k] = x[r * inputs + k]
        for (let k = 0; k < size; k++) joined[r * width + inputs + k] = h[r * size + k]
      }
      oneStep(parameters, joined, rows, h)
    },
  }
}

/**
 * A GRU over rows of `window` frames of `inputs` numbers, oldest first. It starts from a zero state; its last
 * state is the output.
 */
export function gruNetwork(given: { inputs: number; window: number; size: number; prefix: string }): Network {
  const { inputs, window, size } = given
  const gru = gruLayer(given)
  const trace: Network['trace'] = (parameters, x) => {
    const [batch] = x.shape
    const blank = broadcastTo(constant(0), [batch, size])
    return gru.trace(parameters, reshape(x, [batch, window, inputs]), blank)[window - 1]
  }
  const network = { inputs: window * inputs, outputs: size, specs: gru.specs, trace }
  return { ...network, forward: kernelForward(network) }
}
