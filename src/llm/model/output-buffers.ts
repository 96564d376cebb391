import type { HostTensor } from '../../engine/tensor/index.ts'

/**
 * Arrays for the outputs of one program's runs, used again by the next run: what a run wrote is to be read before
 * the next. Without them every run leaves megabytes to the garbage collector.
 */
export function createOutputBuffers(): (name: string, shape: readonly number[]) => HostTensor {
  const memory = new Map<string, Float32Array>()
  const views = new Map<string, HostTensor>()
  return (name, shape) => {
    const size = shape.reduce((product, length) => product * length, 1)
    const view = views.get(name)
    if (view !== undefined && view.shape.every((length, axis) => length === shape[axis])) return view
    let array = memory.get(name)
    if (array === undefined || array.length < size) memory.set(name, (array = new Float32Array(size)))
    const fresh = { data: array.subarray(0, size), shape }
    views.set(name, fresh)
    return fresh
  }
}
