import { makeNode } from '../node.ts'
import { offsets, shapeError, sizeOf, stridesOf } from '../shape.ts'
import type { Operator, Tensor } from '../types.ts'
import { allocate } from './elementwise.ts'

export const transposeOperator: Operator = {
  name: 'transpose',
  infer: ([x], attributes) => {
    const permutation = attributes.permutation as readonly number[]
    if (permutation.length !== x.shape.length || new Set(permutation).size !== x.shape.length)
      throw shapeError('transpose', [x], `a permutation of its axes, not [${permutation.join(', ')}]`)
    return { shape: permutation.map((axis) => x.shape[axis]), dtype: x.dtype }
  },
  lower: (context, node, inputs) =>
    context.emit('Transpose', inputs, { perm: { ints: node.attributes.permutation as readonly number[] } }),
  evaluate: (node, [x], shape) => {
    const own = stridesOf(x.shape)
    const source = offsets(
      shape,
      (node.attributes.permutation as readonly number[]).map((axis) => own[axis]),
    )
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++) data[i] = x.data[source[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const inverse: number[] = []
    ;(node.attributes.permutation as readonly number[]).forEach(
      (axis, position) => (inverse[axis] = position),
    )
    return [t.transpose(dy, inverse)]
  },
}

/** Axes in another order; by default reversed. `permutation[i]` is the input axis that becomes axis i. */
export function transpose(x: Tensor, permutation?: readonly number[]): Tensor {
  return makeNode(transposeOperator, [x], {
    permutation: permutation ?? x.shape.map((_, axis) => x.shape.length - 1 - axis),
  })
}
