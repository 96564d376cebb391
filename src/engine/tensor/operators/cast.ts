import { makeNode } from '../node.ts'
import { sizeOf } from '../shape.ts'
import type { DType, Operator, Tensor } from '../types.ts'
import { allocate } from './elementwise.ts'

/** Codes of ONNX's TensorProto.DataType. */
export const onnxTypes = { float32: 1, int8: 3, int32: 6, bool: 9 } as const

export const castOperator: Operator = {
  name: 'cast',
  infer: ([x], attributes) => ({ shape: x.shape, dtype: attributes.dtype as DType }),
  lower: (context, node, inputs) => context.emit('Cast', inputs, { to: { int: onnxTypes[node.dtype] } }),
  evaluate: (node, [x], shape) => {
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++)
      data[i] = node.dtype === 'bool' ? (x.data[i] === 0 ? 0 : 1) : x.data[i]
    return { data, shape }
  },
  gradient: (node, dy) => [node.dtype === 'float32' && node.inputs[0].dtype === 'float32' ? dy : undefined],
}

/** The values in another type: booleans become 0 or 1, floats are cut towards zero. */
export function cast(x: Tensor, dtype: DType): Tensor {
  return x.dtype === dtype ? x : makeNode(castOperator, [x], { dtype })
}
