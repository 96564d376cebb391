import type { Shape, Tensor } from '../types.ts'
import { broadcastTo } from './broadcast-to.ts'
import { constant } from './constant.ts'

/** Float zeros; no array is made where an operator can do with the number. */
export function zeros(shape: Shape): Tensor {
  return broadcastTo(constant(0), shape)
}
