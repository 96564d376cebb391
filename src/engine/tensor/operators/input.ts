import { AgogeError } from '../../../error.ts'
import { makeNode } from '../node.ts'
import { canonicalShape } from '../shape.ts'
import type { DType, Operator, Shape, Tensor } from '../types.ts'

export const inputOperator: Operator = {
  name: 'input',
  infer: (_, attributes) => ({ shape: attributes.shape as Shape, dtype: attributes.dtype as DType }),
  lower: (_, node) => node.attributes.name as string,
  evaluate: (node) => {
    throw new AgogeError(`no value was given for the input ${String(node.attributes.name)}`, {
      code: 'missing-input',
      expected: 'a feed for every input of the graph',
    })
  },
}

/** A named hole of a graph, filled at each run. */
export function input(name: string, shape: Shape, dtype: DType = 'float32'): Tensor {
  return makeNode(inputOperator, [], { name, shape: canonicalShape(shape), dtype })
}
