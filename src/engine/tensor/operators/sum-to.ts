import { sameShape } from '../shape.ts'
import type { Shape, Tensor } from '../types.ts'
import { sum } from './reduce.ts'
import { reshape } from './reshape.ts'

/** Sums over the axes along which a tensor of `shape` was broadcast to become `x`. */
export function sumTo(x: Tensor, shape: Shape): Tensor {
  if (sameShape(x.shape, shape)) return x
  const lead = x.shape.length - shape.length
  const axes = x.shape.flatMap((dim, axis) =>
    axis < lead || (shape[axis - lead] === 1 && dim !== 1) ? [axis] : [],
  )
  return reshape(sum(x, { axes, keepDims: axes.some((axis) => axis >= lead) }), shape)
}
