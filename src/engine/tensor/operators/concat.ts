import { addDims } from '../dimension.ts'
import { makeNode } from '../node.ts'
import { normaliseAxis, shapeError, sizeOf } from '../shape.ts'
import type { Dim, Operator, Tensor } from '../types.ts'
import { allocate } from './elementwise.ts'

export const concatOperator: Operator = {
  name: 'concat',
  infer: (inputs, attributes) => {
    const axis = attributes.axis as number
    const [first] = inputs
    const fits = inputs.every(
      (x) =>
        x.dtype === first.dtype &&
        x.shape.length === first.shape.length &&
        x.shape.every((dim, at) => at === axis || dim === first.shape[at]),
    )
    if (!fits) throw shapeError('concat', inputs, `one type and equal sizes but along axis ${axis}`)
    const total = inputs.map((x) => x.shape[axis]).reduce((a, b) => addDims(a, b))
    return { shape: first.shape.map((dim, at) => (at === axis ? total : dim)), dtype: first.dtype }
  },
  lower: (context, node, inputs) =>
    context.emit('Concat', inputs, { axis: { int: node.attributes.axis as number } }),
  evaluate: (node, inputs, shape) => {
    const axis = node.attributes.axis as number
    const data = allocate(node.dtype, sizeOf(shape))
    const inner = sizeOf(shape.slice(axis + 1))
    const row = shape[axis] * inner
    let at = 0
    for (const { data: part, shape: own } of inputs) {
      const width = own[axis] * inner
      for (let i = 0; i < part.length; i++) data[Math.floor(i / width) * row + at + (i % width)] = part[i]
      at += width
    }
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const axis = node.attributes.axis as number
    let start: Dim = 0
    return node.inputs.map((x) => {
      const end = addDims(start, x.shape[axis])
      const part = t.slice(dy, { axis, start, end })
      start = end
      return part
    })
  },
}

/** Joins tensors along an axis. */
export function concat(tensors: readonly Tensor[], axis: number): Tensor {
  if (tensors.length === 1) return tensors[0]
  return makeNode(concatOperator, tensors, { axis: normaliseAxis('concat', tensors[0], axis) })
}
