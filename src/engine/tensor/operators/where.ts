import { makeNode } from '../node.ts'
import { broadcastOffsets, broadcastShapes, shapeError, sizeOf } from '../shape.ts'
import type { Operand, Operator, Tensor } from '../types.ts'
import { onnxTypes } from './cast.ts'
import { lift } from './constant.ts'
import { allocate } from './elementwise.ts'

/** Code of bytes in ONNX's TensorProto.DataType. */
const uint8 = 2

export const whereOperator: Operator = {
  name: 'where',
  infer: (inputs) => {
    const [condition, a, b] = inputs
    if (condition.dtype !== 'bool' || a.dtype !== b.dtype)
      throw shapeError('where', inputs, 'a bool condition and two values of one type')
    return { shape: broadcastShapes('where', inputs), dtype: a.dtype }
  },
  lower: (context, node, inputs) => {
    if (node.dtype !== 'bool') return context.emit('Where', inputs)
    // the CPU provider has no Where over booleans, but one over bytes
    const [a, b] = inputs.slice(1).map((name) => context.emit('Cast', [name], { to: { int: uint8 } }))
    return context.emit('Cast', [context.emit('Where', [inputs[0], a, b])], { to: { int: onnxTypes.bool } })
  },
  evaluate: (node, inputs, shape) => {
    const size = sizeOf(shape)
    const [c, a, b] = inputs.map((value) => broadcastOffsets(value.shape, shape))
    const data = allocate(node.dtype, size)
    for (let i = 0; i < size; i++)
      data[i] = inputs[0].data[c[i]] === 0 ? inputs[2].data[b[i]] : inputs[1].data[a[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [condition, a, b] = node.inputs
    return [
      undefined,
      t.sumTo(t.where(condition, dy, 0), a.shape),
      t.sumTo(t.where(condition, 0, dy), b.shape),
    ]
  },
}

/** a where the condition holds, else b, broadcasting. */
export function where(condition: Tensor, a: Operand, b: Operand): Tensor {
  return makeNode(whereOperator, [condition, lift(a, b), lift(b, a)])
}
