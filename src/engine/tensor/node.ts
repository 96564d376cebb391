import type { Attributes, Operator, Tensor } from './types.ts'

let counter = 0

/** Makes a node: the operator's shape rule runs here, so mistakes show where they are written. */
export function makeNode(op: Operator, inputs: readonly Tensor[], attributes: Attributes = {}): Tensor {
  const { shape, dtype } = op.infer(inputs, attributes)
  return { id: counter++, op, inputs, attributes, shape, dtype }
}

/** Nodes reachable from `outputs`, inputs before users. Iterative: graphs may be thousands of nodes deep. */
export function topologicalOrder(outputs: readonly Tensor[]): Tensor[] {
  const order: Tensor[] = []
  const state = new Map<Tensor, boolean>()
  const stack = [...outputs].reverse()
  while (stack.length > 0) {
    const node = stack.at(-1)!
    if (state.get(node) === true) {
      stack.pop()
    } else if (state.get(node) === false) {
      state.set(node, true)
      order.push(node)
      stack.pop()
    } else {
      state.set(node, false)
      for (const input of node.inputs) if (!state.has(input)) stack.push(input)
    }
  }
  return order
}
