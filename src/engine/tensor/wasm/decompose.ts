import { makeNode, topologicalOrder } from '../node.ts'
import { div, sub } from '../operators/binary.ts'
import { max, sum } from '../operators/reduce.ts'
import { logSoftmaxOperator, softmaxOperator } from '../operators/softmax.ts'
import { exp, log } from '../operators/unary.ts'
import type { Tensor } from '../types.ts'

/** The same graph with softmax and its logarithm as the operators that they are made of. */
export function decompose(outputs: readonly Tensor[]): Tensor[] {
  const made = new Map<Tensor, Tensor>()
  for (const node of topologicalOrder(outputs)) {
    const inputs = node.inputs.map((input) => made.get(input)!)
    made.set(node, parts(node, inputs) ?? rebuilt(node, inputs))
  }
  return outputs.map((node) => made.get(node)!)
}

function parts({ op }: Tensor, [x]: readonly Tensor[]): Tensor | undefined {
  if (op !== softmaxOperator && op !== logSoftmaxOperator) return undefined
  const last = { axes: [-1], keepDims: true }
  const shifted = sub(x, max(x, last))
  const powers = exp(shifted)
  return op === softmaxOperator ? div(powers, sum(powers, last)) : sub(shifted, log(sum(powers, last)))
}

/** The node over other inputs; itself where they are the same. */
export const rebuilt = (node: Tensor, inputs: readonly Tensor[]): Tensor =>
  inputs.every((input, i) => input === node.inputs[i]) ? node : makeNode(node.op, inputs, node.attributes)
