import { makeNode } from '../node.ts'
import { sameShape, shapeError, sizeOf } from '../shape.ts'
import type { Operator, Tensor } from '../types.ts'
import { allocate } from './elementwise.ts'

const fits = (x: Tensor, indices: Tensor) =>
  indices.dtype === 'int32' && x.shape.length > 0 && sameShape(indices.shape, x.shape.slice(0, -1))

export const takeAlongOperator: Operator = {
  name: 'takeAlong',
  infer: (inputs) => {
    const [x, indices] = inputs
    if (!fits(x, indices)) throw shapeError('takeAlong', inputs, 'x [..., V] and int32 indices [...]')
    return { shape: indices.shape, dtype: x.dtype }
  },
  lower: (context, node, [x, indices]) => {
    const last = context.int64([-1])
    const column = context.emit('Unsqueeze', [indices, last])
    const taken = context.emit('GatherElements', [x, column], {
      axis: { int: node.inputs[0].shape.length - 1 },
    })
    return context.emit('Squeeze', [taken, last])
  },
  evaluate: (node, [x, indices], shape) => {
    const width = x.shape.at(-1)!
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++) data[i] = x.data[i * width + indices.data[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [x, indices] = node.inputs
    return [t.scatterAlong(t.zeros(x.shape), indices, dy), undefined]
  },
}

/** base [..., V] with one value added in each row, at the row's index. */
export const scatterAlongOperator: Operator = {
  name: 'scatterAlong',
  infer: (inputs) => {
    const [base, indices, values] = inputs
    if (!fits(base, indices) || !sameShape(values.shape, indices.shape))
      throw shapeError('scatterAlong', inputs, 'base [..., V], int32 indices [...] and values [...]')
    return { shape: base.shape, dtype: base.dtype }
  },
  lower: (context, node, [base, indices, values]) => {
    const last = context.int64([-1])
    const columns = [indices, values].map((name) => context.emit('Unsqueeze', [name, last]))
    return context.emit('ScatterElements', [base, ...columns], {
      axis: { int: node.shape.length - 1 },
      reduction: { string: 'add' },
    })
  },
  evaluate: (_, [base, indices, values], shape) => {
    const data = base.data.slice()
    const width = shape.at(-1)!
    indices.data.forEach((index, row) => {
      data[row * width + index] += values.data[row]
    })
    return { data, shape }
  },
  gradient: (node, dy, t) => [dy, undefined, t.takeAlong(dy, node.inputs[1])],
}

export function scatterAlong(base: Tensor, indices: Tensor, values: Tensor): Tensor {
  return makeNode(scatterAlongOperator, [base, indices, values])
}

/**
 * One value of each row: x[..., indices[...]].
 *
 * @param x [..., V]
 * @param indices int32 [...], each in [0, V)
 * @returns [...]
 */
export function takeAlong(x: Tensor, indices: Tensor): Tensor {
  return makeNode(takeAlongOperator, [x, indices])
}
