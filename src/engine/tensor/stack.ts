import { compile, type CompileOptions, type InputSpec, type Program } from './compile.ts'
import { makeNode, topologicalOrder } from './node.ts'
import type { Dim, Tensor } from './node.ts'
import { input } from './operators/constant.ts'
import { broadcastTo, reshape } from './operators/reshape.ts'
import { simplify } from './simplify.ts'

/** A node of the stacked graph. `isStacked`: whether it has the leading axis, or is the same for the whole stack. */
interface Stacked {
  node: Tensor
  isStacked: boolean
}

/** The symbol of the leading axis in compiled programs. */
const stack = 'stack'

/** Applies the operator of a node to stacks. */
type Rule = (node: Tensor, inputs: readonly Stacked[], count: Dim) => Tensor

/**
 * The same graph for a stack of independent feeds: every input in `inputs` is replaced by one with a leading axis of
 * `count`, and every output has that axis too. Slice i of the outputs depends on slice i of the inputs alone. As `vmap`
 * of JAX, but only for the leading axis.
 *
 * @param inputs the stacked input of each input
 * @returns null if an operator has no rule here
 * @example
 * const [many] = stackGraph([sum(x)], new Map([[x, input('x', ['S', 3])]]), 'S')! // shape ['S']
 */
export function stackGraph(
  outputs: readonly Tensor[],
  inputs: ReadonlyMap<Tensor, Tensor>,
  count: Dim,
): Tensor[] | null {
  const made = new Map<Tensor, Stacked>()
  for (const node of topologicalOrder(outputs)) {
    const stackedInput = inputs.get(node)
    if (stackedInput !== undefined) {
      made.set(node, { node: stackedInput, isStacked: true })
      continue
    }
    const given = node.inputs.map((each) => made.get(each)!)
    if (given.every(({ isStacked }) => !isStacked)) {
      made.set(node, { node, isStacked: false })
      continue
    }
    if (!Object.hasOwn(rules, node.op.name)) return null
    made.set(node, { node: rules[node.op.name](node, given, count), isStacked: true })
  }
  return outputs.map((node) => whole(made.get(node)!, count))
}

/** With the leading axis. */
const whole = ({ node, isStacked }: Stacked, count: Dim): Tensor =>
  isStacked ? node : broadcastTo(node, [count, ...node.shape])

/** With as many axes behind the leading one as the result has, so that the axes of all operands meet. */
function aligned({ node, isStacked }: Stacked, rank: number): Tensor {
  const missing = rank + 1 - node.shape.length
  if (!isStacked || missing <= 0) return node
  const [count, ...own] = node.shape
  return reshape(node, [count, ...Array.from({ length: missing }, () => 1), ...own])
}

/** Elementwise operators and products of matrices, whose leading axes broadcast. */
const broadcasting: Rule = (node, inputs) =>
  makeNode(
    node.op,
    inputs.map((each) => aligned(each, node.shape.length)),
    node.attributes,
  )

/** Operators over the last axis, or over rows with an index each. */
const rowwise: Rule = (node, inputs, count) =>
  makeNode(
    node.op,
    inputs.map((each) => whole(each, count)),
    node.attributes,
  )

const shaped: Rule = (node, [x], count) => reshape(whole(x, count), [count, ...node.shape])

const broadcast: Rule = (node, [x], count) =>
  broadcastTo(aligned({ node: whole(x, count), isStacked: true }, node.shape.length), [count, ...node.shape])

const reduction: Rule = (node, [x]) =>
  makeNode(node.op, [x.node], {
    ...node.attributes,
    axes: (node.attributes['axes'] as readonly number[]).map((axis) => axis + 1),
  })

const permuted: Rule = (node, [x]) =>
  makeNode(node.op, [x.node], {
    permutation: [0, ...(node.attributes['permutation'] as readonly number[]).map((axis) => axis + 1)],
  })

const alongAxis: Rule = (node, inputs, count) =>
  makeNode(
    node.op,
    inputs.map((each) => whole(each, count)),
    { ...node.attributes, axis: (node.attributes['axis'] as number) + 1 },
  )

const under = (rule: Rule, names: readonly string[]): Record<string, Rule> =>
  Object.fromEntries(names.map((name) => [name, rule]))

/** By name of the operator. */
const rules: Readonly<Record<string, Rule>> = {
  ...under(broadcasting, ['add', 'sub', 'mul', 'div', 'pow', 'maximum', 'minimum']),
  ...under(broadcasting, ['equal', 'greater', 'less', 'and', 'not', 'where', 'cast', 'stopGradient']),
  ...under(broadcasting, ['neg', 'abs', 'sign', 'exp', 'log', 'sqrt', 'rsqrt', 'square', 'sin', 'cos']),
  ...under(broadcasting, ['relu', 'sigmoid', 'silu', 'tanh', 'matmul']),
  ...under(rowwise, ['softmax', 'logSoftmax', 'takeAlong', 'scatterAlong']),
  ...under(reduction, ['sum', 'mean', 'max']),
  ...under(alongAxis, ['slice', 'pad', 'concat']),
  reshape: shaped,
  broadcastTo: broadcast,
  transpose: permuted,
}

/**
 * Compiles a graph for stacks of feeds, for ONNX Runtime. Inputs and outputs have a leading axis of any length.
 *
 * @param build as in `compile`: for one element of the stack
 * @returns null if an operator has no rule in `stackGraph`
 */
export async function compileStack(
  inputs: Readonly<Record<string, InputSpec>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
  options: CompileOptions,
): Promise<Program | null> {
  const names = Object.keys(inputs)
  const single = Object.fromEntries(
    names.map((name) => [name, input(name, inputs[name].shape, inputs[name].dtype)]),
  )
  const built = build(single)
  const outputs = simplify(Object.values(built))
  const stackedBy = (given: Record<string, Tensor>): Tensor[] | null =>
    stackGraph(outputs, new Map(names.map((name) => [single[name], given[name]])), stack)
  const specs = Object.fromEntries(
    names.map((name) => [name, { ...inputs[name], shape: [stack, ...inputs[name].shape] }]),
  )
  const traced = Object.fromEntries(
    names.map((name) => [name, input(name, specs[name].shape, specs[name].dtype)]),
  )
  if (stackedBy(traced) === null) return null
  return compile(
    specs,
    (given) => {
      const stacked = stackedBy(given)!
      return Object.fromEntries(Object.keys(built).map((name, i) => [name, stacked[i]]))
    },
    options,
  )
}
