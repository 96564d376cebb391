import { makeNode } from '../node.ts'
import { broadcastOffsets, canonicalShape, sameShape, shapeError, showShape, sizeOf } from '../shape.ts'
import type { Operator, Shape, Tensor } from '../types.ts'
import { allocate } from './elementwise.ts'

export const broadcastToOperator: Operator = {
  name: 'broadcastTo',
  infer: ([x], attributes) => {
    const shape = attributes.shape as Shape
    const lead = shape.length - x.shape.length
    if (lead < 0 || x.shape.some((dim, axis) => dim !== 1 && dim !== shape[axis + lead]))
      throw shapeError('broadcastTo', [x], `a shape that broadcasts to ${showShape(shape)}`)
    return { shape, dtype: x.dtype }
  },
  lower: (context, node, [x]) => context.emit('Expand', [x, context.shapeTensor(node.shape)]),
  evaluate: (node, [x], shape) => {
    const source = broadcastOffsets(x.shape, shape)
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++) data[i] = x.data[source[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => [t.sumTo(dy, node.inputs[0].shape)],
}

/** Repeats x along leading axes and axes of size 1 until it has the shape. */
export function broadcastTo(x: Tensor, shape: Shape): Tensor {
  const wanted = canonicalShape(shape)
  return sameShape(wanted, x.shape) ? x : makeNode(broadcastToOperator, [x], { shape: wanted })
}
