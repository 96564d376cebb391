import { makeNode, type Shape, type Tensor, topologicalOrder } from '../node.ts'
import { div, sub } from '../operators/binary.ts'
import { scalarValue } from '../operators/constant.ts'
import { logSoftmaxOperator, softmaxOperator } from '../operators/normalise.ts'
import { max, sum } from '../operators/reduce.ts'
import { broadcastToOperator } from '../operators/reshape.ts'
import { exp, log } from '../operators/unary.ts'
import { multiplyDims } from '../shape.ts'
import {
  type Code,
  i32,
  int,
  type Local,
  repeat,
  v128,
  type ValueType,
  vector,
  type WasmFunction,
} from './assembler.ts'
import { elementwiseCode } from './elementwise-code.ts'

/** The same graph, with softmax and log-softmax replaced by elementary operators. */
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

/** The node with other inputs, or itself if they are the same. */
export const rebuilt = (node: Tensor, inputs: readonly Tensor[]): Tensor =>
  inputs.every((input, i) => input === node.inputs[i]) ? node : makeNode(node.op, inputs, node.attributes)

/** Many elementwise operators as one loop: `run(out, vectors, ...leaves)`, addresses in bytes, four numbers per vector. */
export interface Fused {
  /** The inputs, in the order of the arguments: arrays of the size of the result, or single numbers. */
  readonly leaves: readonly Tensor[]
  readonly define: (name: string) => WasmFunction
}

/** A single number of any rank. */
export const isSingle = (shape: Shape): boolean => shape.every((dim) => dim === 1)

export function isElementwise({ op, dtype, inputs }: Tensor): boolean {
  if (op.name === 'div' && dtype === 'int32') return false
  return Object.hasOwn(elementwiseCode, op.name) && (op !== broadcastToOperator || isSingle(inputs[0].shape))
}

export const sameCount = (a: Shape, b: Shape): boolean => multiplyDims(a) === multiplyDims(b)

/** The loop for `root` and all nodes that only it uses. */
export function fuse(root: Tensor, isInlined: (node: Tensor) => boolean): Fused {
  const order: Tensor[] = []
  const leaves: Tensor[] = []
  const visit = (node: Tensor): void => {
    for (const input of node.inputs) {
      if (order.includes(input) || leaves.includes(input) || scalarValue(input) !== undefined) continue
      if (isInlined(input)) visit(input)
      else leaves.push(input)
    }
    order.push(node)
  }
  visit(root)
  return { leaves, define: (name) => loop(name, order, leaves) }
}

function loop(name: string, order: readonly Tensor[], leaves: readonly Tensor[]): WasmFunction {
  return {
    name,
    parameters: [i32, i32, ...leaves.map((): ValueType => i32)],
    code: ([out, vectors, ...addresses], builder) => {
      const fresh = (): Local => builder.local(v128)
      const before: Code[] = []
      const constants = new Map<number, Local>()
      const constant = (value: number): Local => {
        const known = constants.get(value)
        if (known !== undefined) return known
        const made = fresh()
        before.push(made.set(vector.constant(value)))
        constants.set(value, made)
        return made
      }
      const context = { fresh, constant: (value: number): Code => constant(value).get }
      const values = new Map<Tensor, Local>()
      const each: Code[] = []
      leaves.forEach((leaf, i) => {
        const value = fresh()
        values.set(leaf, value)
        if (isSingle(leaf.shape)) before.push(value.set(vector.loadSplat(addresses[i].get)))
        else each.push(value.set(vector.load(addresses[i].get)), addresses[i].add(int.constant(16)))
      })
      const valueOf = (node: Tensor): Local => values.get(node) ?? constant(scalarValue(node)!)
      for (const node of order) {
        const value = fresh()
        each.push(value.set(elementwiseCode[node.op.name](node.inputs.map(valueOf), context, node)))
        values.set(node, value)
      }
      const result = values.get(order.at(-1)!)!
      const iteration: Code = [each, vector.store(out.get, result.get), out.add(int.constant(16))]
      return [before, repeat(iteration, vectors.tee(int.sub(vectors.get, int.constant(1))))]
    },
  }
}
