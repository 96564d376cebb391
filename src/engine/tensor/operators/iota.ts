import { canonical } from '../dimension.ts'
import { makeNode } from '../node.ts'
import type { Dim, Operator, Tensor } from '../types.ts'
import { constant } from './constant.ts'

export const iotaOperator: Operator = {
  name: 'iota',
  infer: (_, attributes) => ({ shape: [attributes.size as Dim], dtype: 'int32' }),
  lower: (context, node) => {
    const range = context.emit('Range', [
      context.int64([0], true),
      context.size(node.attributes.size as Dim),
      context.int64([1], true),
    ])
    return context.emit('Cast', [range], { to: { int: 6 } })
  },
  evaluate: (_, __, shape) => ({ data: Int32Array.from({ length: shape[0] }, (_, i) => i), shape }),
}

/** 0, 1, ... size-1 as int32 of shape [size]. */
export function iota(size: Dim): Tensor {
  if (typeof size === 'number') return constant(Int32Array.from({ length: size }, (_, i) => i))
  return makeNode(iotaOperator, [], { size: canonical(size) })
}
