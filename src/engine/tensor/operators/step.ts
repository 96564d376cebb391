import type { Operator } from '../types.ts'
import { elementwise } from './elementwise.ts'

/**
 * 1 where x is above 0, else 0, as the runtime has it in one pass: a slope so steep that the smallest ordinary number comes to
 * 1. For compiled graphs only: no gradient flows.
 */
export const stepOperator: Operator = {
  ...elementwise({
    name: 'step',
    onnx: 'HardSigmoid',
    arity: 1,
    accepts: ['float32'],
    compute: (x) => (x > 0 ? 1 : 0),
  }),
  lower: (context, _, inputs) =>
    context.emit('HardSigmoid', inputs, { alpha: { float: 1e38 }, beta: { float: 0 } }),
}
