import type { Operator } from '../types.ts'
import { addOperator } from './binary.ts'
import { matmulOperator } from './matmul.ts'

/** A product of matrices with a row added to each row of it. For compiled graphs only: it has no gradient. */
export const affineOperator: Operator = {
  name: 'affine',
  infer: ([a, b], attributes) => matmulOperator.infer([a, b], attributes),
  lower: (context, { attributes }, inputs) =>
    context.emit('Gemm', inputs, {
      transA: { int: attributes['transposeA'] === true ? 1 : 0 },
      transB: { int: attributes['transposeB'] === true ? 1 : 0 },
    }),
  evaluate(node, [a, b, row], shape, bindings) {
    const product = matmulOperator.evaluate(node, [a, b], shape, bindings)
    return addOperator.evaluate(node, [product, row], shape, bindings)
  },
}
