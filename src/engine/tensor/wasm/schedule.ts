import { makeNode, topologicalOrder } from '../node.ts'
import type { Shape, Tensor } from '../node.ts'
import { div, sub } from '../operators/binary.ts'
import { scalarValue } from '../operators/constant.ts'
import { logSoftmaxOperator, softmaxOperator } from '../operators/normalise.ts'
import { max, sum } from '../operators/reduce.ts'
import { broadcastToOperator, broadcastTo } from '../operators/reshape.ts'
import { exp, log } from '../operators/elementwise.ts'
import { multiplyDims, sameShape } from '../shape.ts'
import { i32, int, repeat, v128, vector } from './assembler.ts'
import type { Code, Local, ValueType, WasmFunction } from './assembler.ts'
import { elementwiseCode } from './elementwise-code.ts'
import { matmulOperator } from '../operators/matmul.ts'
import { hostSteps } from './host-steps.ts'

/** The same graph, with softmax and log-softmax replaced by elementary operators. */
function decompose(outputs: readonly Tensor[]): Tensor[] {
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
const rebuilt = (node: Tensor, inputs: readonly Tensor[]): Tensor =>
  inputs.every((input, i) => input === node.inputs[i]) ? node : makeNode(node.op, inputs, node.attributes)

/** A single number of any rank. */
const isSingle = (shape: Shape): boolean => shape.every((dim) => dim === 1)

function isElementwise({ op, dtype, inputs }: Tensor): boolean {
  if (op.name === 'div' && dtype === 'int32') return false
  return Object.hasOwn(elementwiseCode, op.name) && (op !== broadcastToOperator || isSingle(inputs[0].shape))
}

const sameCount = (a: Shape, b: Shape): boolean => multiplyDims(a) === multiplyDims(b)

/**
 * Many elementwise operators as one loop, for `root` and all nodes that only it uses: `name(out, vectors, ...leaves)`,
 * addresses in bytes, four numbers per vector. `leaves` are the inputs in the order of the arguments: arrays of the size
 * of the result, or single numbers.
 */
function fuse(
  name: string,
  root: Tensor,
  isInlined: (node: Tensor) => boolean,
): { leaves: readonly Tensor[]; fused: WasmFunction } {
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
  return { leaves, fused: loop(name, order, leaves) }
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

/** One step. It computes the array of `node` from those of `reads`. */
export type Task = { readonly node: Tensor; readonly reads: readonly Tensor[] } & (
  | { readonly kind: 'fused'; readonly fused: WasmFunction }
  /** reads: a, b and, where there is one, the row that is added. */
  | { readonly kind: 'product'; readonly product: Tensor }
  /** Sums or means over the first axes, or the last: products with a row of one number. */
  | { readonly kind: 'sum' }
  | { readonly kind: 'host' }
)

export interface Schedule {
  readonly tasks: readonly Task[]
  /** The tasks in order. The values of each node are in the array of `holder`. */
  readonly outputs: readonly Tensor[]
  readonly inputs: readonly Tensor[]
  /** Constants that are read as arrays. */
  readonly constants: readonly Tensor[]
  /** The node whose array holds the values of another. */
  readonly holder: (node: Tensor) => Tensor
}

/** Orders a graph into kernels and fuses elementwise operators. Null if an operator has no kernel. */
export function schedule(wanted: readonly Tensor[]): Schedule | null {
  const { outputs, biased } = withoutBroadcasts(decompose(wanted))
  const order = topologicalOrder(outputs)
  const users = usersOf(order)
  const absorbed = new Set([...biased.values()].map(({ product }) => product))
  const isLoop = (node: Tensor): boolean => isElementwise(node) && !biased.has(node)
  const cut = new Set<Tensor>()
  const isInlined = (node: Tensor): boolean => {
    const using = users.get(node)!
    if (!isLoop(node) || cut.has(node) || outputs.includes(node) || using.size !== 1) return false
    const [user] = using
    return isLoop(user) && sameCount(user.shape, node.shape)
  }
  cutLongLoops(order.filter(isLoop), isInlined, cut)
  const tasks: Task[] = []
  for (const node of order) {
    const { name } = node.op
    if (['input', 'constant'].includes(name) || isAlias(node) || absorbed.has(node)) continue
    const bias = biased.get(node)
    if (bias !== undefined) {
      const reads = [...bias.product.inputs, bias.row].map(holder)
      tasks.push({ kind: 'product', node, product: bias.product, reads })
    } else if (isLoop(node)) {
      if (isInlined(node)) continue
      // Named by its position, so that equal graphs have modules of equal bytes.
      const { leaves, fused } = fuse(`fused${tasks.length}`, node, isInlined)
      tasks.push({ kind: 'fused', node, reads: leaves.map(holder), fused })
    } else {
      const reads = node.inputs.map(holder)
      if (isProduct(node)) tasks.push({ kind: 'product', node, product: node, reads })
      else if (isOuterSum(node)) tasks.push({ kind: 'sum', node, reads })
      else if (Object.hasOwn(hostSteps, name) && hasNeighbours(node))
        tasks.push({ kind: 'host', node, reads })
      else return null
    }
  }
  const stored = new Set([...tasks.flatMap(({ reads }) => reads), ...outputs.map(holder)])
  return {
    tasks,
    outputs,
    inputs: order.filter(({ op }) => op.name === 'input'),
    constants: [...stored].filter(({ op }) => op.name === 'constant'),
    holder,
  }
}

/**
 * Limit of arrays that a loop reads. A WebAssembly function may have a thousand parameters; sums over many
 * steps of an RNN would need more.
 */
const mostLeaves = 200

/** Fills `cut` with the nodes that become separate loops, so that no loop reads too many arrays. */
function cutLongLoops(
  loops: readonly Tensor[],
  isInlined: (node: Tensor) => boolean,
  cut: Set<Tensor>,
): void {
  const leaves = new Map<Tensor, number>()
  for (const node of loops) {
    const counts = node.inputs.map((input) => (isInlined(input) ? leaves.get(input)! : 1))
    while (counts.reduce((sum, count) => sum + count, 0) > mostLeaves) {
      const longest = counts.indexOf(Math.max(...counts))
      cut.add(node.inputs[longest])
      counts[longest] = 1
    }
    leaves.set(
      node,
      counts.reduce((sum, count) => sum + count, 0),
    )
  }
}

function usersOf(order: readonly Tensor[]): Map<Tensor, Set<Tensor>> {
  const users = new Map<Tensor, Set<Tensor>>(order.map((node) => [node, new Set()]))
  for (const node of order) for (const input of node.inputs) users.get(input)!.add(node)
  return users
}

/** Whether the node has the same values in the same order as its input. */
const isAlias = (node: Tensor): boolean =>
  node.op.name === 'reshape' ||
  (node.op === broadcastToOperator && sameCount(node.shape, node.inputs[0].shape))

const holder = (node: Tensor): Tensor => (isAlias(node) ? holder(node.inputs[0]) : node)

/** Whether it is a product with a single matrix on the right. Leading axes of the left are rows. */
function isProduct({ op, inputs, attributes }: Tensor): boolean {
  if (op !== matmulOperator || attributes['scale'] !== 1 || inputs[1].shape.length !== 2) return false
  return (
    attributes['transposeA'] !== true || (inputs[0].shape.length === 2 && attributes['transposeB'] !== true)
  )
}

const axesOf = ({ attributes }: Tensor): readonly number[] => (attributes['axes'] ?? []) as readonly number[]
const isOuterSum = (node: Tensor): boolean =>
  ['sum', 'mean'].includes(node.op.name) &&
  hasNeighbours(node) &&
  (axesOf(node)[0] === 0 || axesOf(node).at(-1) === node.inputs[0].shape.length - 1)
const hasNeighbours = (node: Tensor): boolean => axesOf(node).every((axis, i, axes) => axis === axes[0] + i)

/**
 * The same graph, with operands of elementwise operators broadcast to the size of the result, or single
 * numbers. A row added to a product stays as it is, because the product starts with it.
 */
function withoutBroadcasts(outputs: readonly Tensor[]) {
  const order = topologicalOrder(outputs)
  const users = usersOf(order)
  const made = new Map<Tensor, Tensor>()
  const spread = new Map<string, Tensor>()
  const biased = new Map<Tensor, { product: Tensor; row: Tensor }>()
  const fitted = (x: Tensor, node: Tensor): Tensor => {
    if (isSingle(x.shape) || sameCount(x.shape, node.shape)) return x
    const key = `${x.id} ${node.shape.join()}`
    const known = spread.get(key) ?? broadcastTo(x, node.shape)
    spread.set(key, known)
    return known
  }
  for (const node of order) {
    const at = node.inputs.findIndex(
      (x) =>
        isProduct(x) && users.get(x)!.size === 1 && !outputs.includes(x) && sameShape(x.shape, node.shape),
    )
    const own = node.inputs.map((x) => made.get(x)!)
    const isBiased = node.op.name === 'add' && at >= 0 && isRow(node.inputs[1 - at], node)
    const inputs = isElementwise(node) && !isBiased ? own.map((x) => fitted(x, node)) : own
    const next = rebuilt(node, inputs)
    made.set(node, next)
    if (isBiased) biased.set(next, { product: own[at], row: own[1 - at] })
  }
  return { outputs: outputs.map((node) => made.get(node)!), biased }
}

const isRow = (x: Tensor, node: Tensor): boolean =>
  x.shape.length > 0 && x.shape.at(-1) === node.shape.at(-1) && isSingle(x.shape.slice(0, -1))
