import { makeNode } from '../node.ts'
import type { Operator, Tensor } from '../types.ts'

export const stopGradientOperator: Operator = {
  name: 'stopGradient',
  infer: ([x]) => ({ shape: x.shape, dtype: x.dtype }),
  lower: (context, _, inputs) => context.emit('Identity', inputs),
  evaluate: (_, [x]) => x,
}

/** The same values, through which no gradient flows. */
export function stopGradient(x: Tensor): Tensor {
  return makeNode(stopGradientOperator, [x])
}
