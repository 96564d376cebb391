import type { ParameterSet } from '../../engine/nn/index.ts'
import { smallProgram } from '../../engine/tensor/index.ts'
import type { HostTensor, SmallProgram } from '../../engine/tensor/index.ts'
import type { Network } from './network.ts'

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
