import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import {
  type HostTensor,
  slice,
  smallProgram,
  type SmallProgram,
  type Tensor,
} from '../../engine/tensor/index.ts'

/** A network over rows of numbers, as traced operators for learning and at once for acting. */
export interface Network {
  readonly inputs: number
  readonly outputs: number
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** x [rows, inputs] to [rows, outputs]. */
  trace(parameters: Record<string, Tensor>, x: Tensor): Tensor
  /**
   * The same into `out` [rows, outputs], at once: a call of the runtime costs more than small networks do. Linear layers and the GRU run
   * what they trace (`kernelForward`). Transformer and convolutions have operators without a kernel and a second form as plain loops;
   * a test holds both forms to the same numbers.
   */
  forward(parameters: ParameterSet, x: Float32Array, rows: number, out: Float32Array): void
}

/** Gives back what it is given. */
export const identityNetwork = (inputs: number): Network => ({
  inputs,
  outputs: inputs,
  specs: {},
  trace: (_, x) => x,
  forward(_, x, rows, out) {
    for (let i = 0; i < rows * inputs; i++) out[i] = x[i]
  },
})

/** Of rows of `inputs` numbers those from `from` to `to`. */
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

/** `second` over the outputs of `first`. */
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
 * Runs what a network traces on kernels of its own, at once: for acting, where rows are few and a call of the runtime costs
 * more than the network does. The kernels are made at the first call.
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
