import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import {
  type HostTensor,
  slice,
  smallProgram,
  type SmallProgram,
  type Tensor,
} from '../../engine/tensor/index.ts'

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
