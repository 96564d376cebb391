import { linear, orthogonal, uniformValues } from '../../engine/nn/index.ts'
import type { ParameterSet, ParameterSpec, Activation } from '../../engine/nn/index.ts'
import { slice, smallProgram, relu, silu, tanh } from '../../engine/tensor/index.ts'
import type { HostTensor, SmallProgram, Tensor } from '../../engine/tensor/index.ts'

/** A network over rows of numbers, traced for learning or run directly for acting. */
export interface Network {
  readonly inputs: number
  readonly outputs: number
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** Traced: x [rows, inputs] to [rows, outputs]. */
  trace(parameters: Record<string, Tensor>, x: Tensor): Tensor
  /**
   * Computes the same into `out` [rows, outputs] without the runtime, whose call costs more than a small
   * network. Linear layers and the GRU run their traced operators on kernels (`kernelForward`). Transformer and
   * convolutions have a second implementation as loops, because some of their operators have no kernel; a test
   * compares both.
   */
  forward(parameters: ParameterSet, x: Float32Array, rows: number, out: Float32Array): void
}

/** The identity. */
export const identityNetwork = (inputs: number): Network => ({
  inputs,
  outputs: inputs,
  specs: {},
  trace: (_, x) => x,
  forward(_, x, rows, out) {
    for (let i = 0; i < rows * inputs; i++) out[i] = x[i]
  },
})

/** Selects columns `from` to `to` of rows of `inputs` numbers. */
export const columnsNetwork = (inputs: number, from: number, to: number): Network => ({
  inputs,
  outputs: to - from,
  specs: {},
  trace: (_, x) => slice(x, { axis: 1, start: from, end: to }),
  forward(_, x, rows, out) {
    for (let r = 0; r < rows; r++)
      for (let k = from; k < to; k++) out[r * (to - from) + k - from] = x[r * inputs + k]
  },
})

/** Applies `second` to the outputs of `first`. */
export function chain(first: Network, second: Network): Network {
  let between = new Float32Array(0)
  return {
    inputs: first.inputs,
    outputs: second.outputs,
    specs: { ...first.specs, ...second.specs },
    trace: (parameters, x) => second.trace(parameters, first.trace(parameters, x)),
    forward(parameters, x, rows, out) {
      if (between.length < rows * first.outputs) between = new Float32Array(rows * first.outputs)
      first.forward(parameters, x, rows, between)
      second.forward(parameters, between, rows, out)
    },
  }
}

/**
 * Runs a traced network directly on kernels. For acting: with few rows, a call of the runtime costs more than
 * the network. Compiles the kernels at the first call.
 */
export function kernelForward({
  inputs,
  specs,
  trace,
}: Omit<Network, 'forward' | 'outputs'>): Network['forward'] {
  const names = Object.keys(specs)
  const key = (name: string): string => `p:${name}`
  let program: SmallProgram | null = null
  let fed: ParameterSet | undefined
  let feeds: Record<string, HostTensor> = {}
  return (parameters, x, rows, out) => {
    program ??= smallProgram(
      {
        ...Object.fromEntries(names.map((name) => [key(name), specs[name]])),
        x: { shape: ['B', inputs] },
      },
      (given) => ({
        y: trace(Object.fromEntries(names.map((name) => [name, given[key(name)]])), given['x']),
      }),
      { largest: Infinity },
    )
    if (program === null) throw new TypeError('a network with an operator that has no kernel')
    if (fed !== parameters) {
      fed = parameters
      feeds = Object.fromEntries(
        names.map((name) => [key(name), { data: parameters.views[name], shape: specs[name].shape }]),
      )
    }
    const size = rows * inputs
    feeds['x'] = { data: x.length === size ? x : x.subarray(0, size), shape: [rows, inputs] }
    out.set(program.run(feeds)['y'].data)
  }
}

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
