import { evaluateNodes } from './evaluate.ts'
import { makeNode, topologicalOrder } from './node.ts'
import type { Attributes, HostData, Tensor } from './node.ts'
import { addOperator, divOperator, mulOperator, subOperator, affineOperator } from './operators/binary.ts'
import { constant, constantOperator, inputOperator, iotaOperator, scalarValue } from './operators/constant.ts'
import { scatterAlongOperator, scatterRowsOperator } from './operators/gather.ts'
import { matmulOperator, matmul } from './operators/matmul.ts'
import { sumOperator } from './operators/reduce.ts'
import {
  broadcastToOperator,
  reshape,
  reshapeOperator,
  transpose,
  transposeOperator,
  broadcastTo,
} from './operators/reshape.ts'
import { negOperator, stopGradientOperator, castOperator, reluOperator } from './operators/elementwise.ts'
import { sameShape, sizeOf } from './shape.ts'
import { greaterOperator, stepOperator } from './operators/compare.ts'

/**
 * A simpler tensor with the same values and shape, or undefined. `find` returns the node of the graph that
 * equals a candidate, if there is one. Some rules only save time if their operands are computed anyway.
 */
type Rule = (node: Tensor, find: (candidate: Tensor) => Tensor | undefined) => Tensor | undefined

const elementwiseBinary = new Set([addOperator, subOperator, mulOperator, divOperator])
const commutative = new Set([addOperator, mulOperator])

/** The constant behind a broadcast. */
function uniform(node: Tensor): number | undefined {
  return node.op === broadcastToOperator ? scalarValue(node.inputs[0]) : scalarValue(node)
}

/** x + 0, x - 0, x * 1, x / 1. */
const neutral: Rule = (node) => {
  if (!elementwiseBinary.has(node.op)) return undefined
  const identity = node.op === addOperator || node.op === subOperator ? 0 : 1
  const [a, b] = node.inputs
  if (uniform(b) === identity && sameShape(a.shape, node.shape)) return a
  if (commutative.has(node.op) && uniform(a) === identity && sameShape(b.shape, node.shape)) return b
  return undefined
}

/** Removes a broadcast in front of an elementwise operator whose other operand already has the shape. */
const dropBroadcast: Rule = (node) => {
  if (!elementwiseBinary.has(node.op)) return undefined
  const [a, b] = node.inputs
  if (b.op === broadcastToOperator && sameShape(a.shape, node.shape))
    return makeNode(node.op, [a, b.inputs[0]])
  if (a.op === broadcastToOperator && sameShape(b.shape, node.shape))
    return makeNode(node.op, [a.inputs[0], b])
  return undefined
}

const doubleNegation: Rule = (node) =>
  node.op === negOperator && node.inputs[0].op === negOperator ? node.inputs[0].inputs[0] : undefined

const composeTransposes: Rule = (node) => {
  if (node.op !== transposeOperator) return undefined
  const permutation = node.attributes.permutation as readonly number[]
  if (permutation.every((axis, at) => axis === at)) return node.inputs[0]
  const [inner] = node.inputs
  if (inner.op !== transposeOperator) return undefined
  const first = inner.attributes.permutation as readonly number[]
  return transpose(
    inner.inputs[0],
    permutation.map((axis) => first[axis]),
  )
}

const composeReshapes: Rule = (node) => {
  if (node.op !== reshapeOperator) return undefined
  const [inner] = node.inputs
  if (sameShape(inner.shape, node.shape)) return inner
  return inner.op === reshapeOperator ? reshape(inner.inputs[0], node.shape) : undefined
}

/** Replaces swapping the last two axes by a flag of the product. */
const transposeIntoMatmul: Rule = (node) => {
  if (node.op !== matmulOperator) return undefined
  for (const [at, flag] of [
    [0, 'transposeA'],
    [1, 'transposeB'],
  ] as const) {
    const operand = node.inputs[at]
    if (operand.op !== transposeOperator) continue
    const rank = operand.shape.length
    const permutation = operand.attributes.permutation as readonly number[]
    const swapsLast = permutation.every((axis, i) => axis === (i < rank - 2 ? i : 2 * rank - 3 - i))
    if (!swapsLast) continue
    const inputs = node.inputs.map((input, i) => (i === at ? operand.inputs[0] : input))
    return makeNode(matmulOperator, inputs, { ...node.attributes, [flag]: node.attributes[flag] !== true })
  }
  return undefined
}

/** Turns a product times a number into a product with a scale, at no cost. */
const scaleIntoMatmul: Rule = (node) => {
  if (node.op !== mulOperator && node.op !== divOperator) return undefined
  const [a, b] = node.inputs
  const scaled = (product: Tensor, factor: number | undefined) =>
    factor !== undefined && product.op === matmulOperator && sameShape(product.shape, node.shape)
      ? makeNode(matmulOperator, product.inputs, {
          ...product.attributes,
          scale: (product.attributes.scale as number) * factor,
        })
      : undefined
  const factor = uniform(b)
  return (
    scaled(a, node.op === divOperator && factor !== undefined ? 1 / factor : factor) ??
    (node.op === mulOperator ? scaled(b, uniform(a)) : undefined)
  )
}

/** y + scatter(0, ...) is scatter(y, ...), without an array of zeros and an addition. */
const scatterOntoSum: Rule = (node) => {
  if (node.op !== addOperator) return undefined
  for (const [at, other] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const scatter = node.inputs[at]
    const base = node.inputs[other]
    if (scatter.op !== scatterAlongOperator && scatter.op !== scatterRowsOperator) continue
    if (uniform(scatter.inputs[0]) !== 0 || !sameShape(base.shape, node.shape)) continue
    return makeNode(scatter.op, [base, ...scatter.inputs.slice(1)])
  }
  return undefined
}

/**
 * sum(p * (g v^T)) over the last axis = sum(g * (p v)), if p v is computed anyway. In the backward pass of
 * attention, this sums over the width of a head instead of over time (FlashAttention, Dao et al. 2022, eq. 4).
 */
const shortenRowSum: Rule = (node, find) => {
  if (node.op !== sumOperator || node.inputs[0].op !== mulOperator) return undefined
  const product = node.inputs[0]
  const axes = node.attributes.axes as readonly number[]
  if (axes.length !== 1 || axes[0] !== product.shape.length - 1) return undefined
  for (const [at, other] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const scores = product.inputs[at]
    const weights = product.inputs[other]
    if (scores.op !== matmulOperator || scores.attributes.transposeA === true) continue
    if (!sameShape(scores.shape, weights.shape)) continue
    const [g, v] = scores.inputs
    const shorter = g.shape.at(-1)!
    const longer = product.shape.at(-1)!
    // A size only known at run time counts as the longer one. Strictly, so that the rule cannot revert itself.
    if (typeof shorter !== 'number' || (typeof longer === 'number' && longer <= shorter)) continue
    if (g.shape.length !== v.shape.length) continue
    const flip = scores.attributes.transposeB !== true
    const mixed = find(
      makeNode(matmulOperator, [weights, v], {
        transposeA: false,
        transposeB: flip,
        scale: scores.attributes.scale,
      }),
    )
    if (mixed !== undefined && sameShape(mixed.shape, g.shape))
      return makeNode(sumOperator, [makeNode(mulOperator, [g, mixed])], node.attributes)
  }
  return undefined
}

const dropStopGradient: Rule = (node) => (node.op === stopGradientOperator ? node.inputs[0] : undefined)

const rewriteRules: readonly Rule[] = [
  dropStopGradient,
  neutral,
  dropBroadcast,
  doubleNegation,
  composeTransposes,
  composeReshapes,
  transposeIntoMatmul,
  scaleIntoMatmul,
  scatterOntoSum,
  shortenRowSum,
]

/** Larger constants are computed at run time instead of being stored in the program. */
const largestFolded = 65_536

/** Folds constants, applies the rewrite rules, merges equal nodes, and drops unused ones. */
export function simplify(outputs: readonly Tensor[]): Tensor[] {
  const merged = new Map<string, Tensor>()
  const replaced = new Map<Tensor, Tensor>()

  function intern(node: Tensor): Tensor {
    const key = structure(node)
    const existing = merged.get(key)
    if (existing !== undefined) return existing
    merged.set(key, node)
    return node
  }

  function reduce(node: Tensor): Tensor {
    let current = node
    for (let steps = 0; steps < 16; steps++) {
      const next = rewrite(current, (candidate) => merged.get(structure(candidate)))
      if (next === undefined) break
      // A rule may build several nodes. All of them are simplified in turn.
      current = replaced.has(next) ? replaced.get(next)! : rebuild(next)
    }
    return intern(current)
  }

  function rebuild(node: Tensor): Tensor {
    for (const inner of topologicalOrder([node])) {
      if (inner === node || replaced.has(inner) || merged.get(structure(inner)) === inner) continue
      replaced.set(inner, reduce(withInputs(inner)))
    }
    return withInputs(node)
  }

  function withInputs(node: Tensor): Tensor {
    const inputs = node.inputs.map((input) => replaced.get(input) ?? input)
    if (inputs.every((input, i) => input === node.inputs[i])) return node
    return makeNode(node.op, inputs, node.attributes)
  }

  for (const node of topologicalOrder(outputs)) {
    if (replaced.has(node)) continue
    replaced.set(node, reduce(withInputs(node)))
  }
  return outputs.map((node) => replaced.get(node)!)
}

function rewrite(node: Tensor, find: (candidate: Tensor) => Tensor | undefined): Tensor | undefined {
  if (foldable(node)) {
    const [{ data, shape }] = evaluateNodes([node], {})
    return constant(data instanceof Float64Array ? Float32Array.from(data) : data, shape, node.dtype)
  }
  for (const rule of rewriteRules) {
    const next = rule(node, find)
    if (next !== undefined && next !== node) return next
  }
  return undefined
}

function foldable(node: Tensor): boolean {
  return (
    ![constantOperator, inputOperator, iotaOperator].includes(node.op) &&
    node.inputs.length > 0 &&
    node.inputs.every((input) => input.op === constantOperator) &&
    node.shape.every((dim) => typeof dim === 'number') &&
    sizeOf(node.shape) <= largestFolded
  )
}

let buffers = 0
const bufferNames = new WeakMap<HostData, number>()

const isHostData = (value: unknown): value is HostData => ArrayBuffer.isView(value)

function attributeKey(attributes: Attributes): string {
  return JSON.stringify(attributes, (_, value: unknown) => {
    if (!isHostData(value)) return value
    if (value.length <= 64) return Array.from(value).map((x) => (Object.is(x, -0) ? '-0' : String(x)))
    if (!bufferNames.has(value)) bufferNames.set(value, buffers++)
    return `buffer ${bufferNames.get(value)}`
  })
}

/** Equal for nodes that compute the same. */
function structure(node: Tensor): string {
  return `${node.op.name}(${node.inputs.map((input) => input.id).join(',')})${attributeKey(node.attributes)}`
}

/**
 * Rewrites a graph for the speed of ONNX Runtime, for layers of hundreds of units. A matrix product with an
 * added row becomes one operator (halves the time of the addition). Sums over rows become products with ones,
 * and the mask of the gradient of relu is computed in one pass (each a third of the time).
 */
export function forRuntime(outputs: readonly Tensor[]): Tensor[] {
  const order = topologicalOrder(outputs)
  const uses = new Map<Tensor, number>()
  for (const node of [...order.flatMap(({ inputs }) => inputs), ...outputs])
    uses.set(node, (uses.get(node) ?? 0) + 1)
  const made = new Map<Tensor, Tensor>()
  /** Results of relu by their inputs. */
  const relus = new Map<Tensor, Tensor>()
  for (const node of order) {
    const inputs = node.inputs.map((input) => made.get(input)!)
    const isSame = inputs.every((input, i) => input === node.inputs[i])
    const next =
      affine(node, inputs, uses) ??
      columnSums(node, inputs) ??
      mask(node, relus, made) ??
      (isSame ? node : makeNode(node.op, inputs, node.attributes))
    if (node.op === reluOperator) relus.set(node.inputs[0], next)
    made.set(node, next)
  }
  return outputs.map((node) => made.get(node)!)
}

function affine(node: Tensor, inputs: readonly Tensor[], uses: Map<Tensor, number>): Tensor | undefined {
  if (node.op !== addOperator) return undefined
  for (const [at, product] of node.inputs.entries()) {
    const row = node.inputs[1 - at]
    const { op, attributes, shape } = product
    const fits =
      op === matmulOperator &&
      uses.get(product) === 1 &&
      attributes['scale'] === 1 &&
      product.inputs.every((input) => input.shape.length === 2) &&
      row.shape.at(-1) === shape[1] &&
      row.shape.slice(0, -1).every((dim) => dim === 1) &&
      row.shape.length > 0 &&
      row.shape.length <= 2
    if (fits) return makeNode(affineOperator, [...inputs[at].inputs, inputs[1 - at]], attributes)
  }
  return undefined
}

/** Sums of a matrix over its rows. */
function columnSums({ op, attributes, inputs, shape }: Tensor, [x]: readonly Tensor[]): Tensor | undefined {
  if (op !== sumOperator || inputs[0].shape.length !== 2 || inputs[0].dtype !== 'float32') return undefined
  const axes = attributes['axes'] as readonly number[]
  if (axes.length !== 1 || axes[0] !== 0) return undefined
  const ones = broadcastTo(constant([1], [1, 1]), [1, x.shape[0]])
  return reshape(matmul(ones, x), shape)
}

/** 1 where x is above 0, else 0. */
function mask(node: Tensor, relus: Map<Tensor, Tensor>, made: Map<Tensor, Tensor>): Tensor | undefined {
  const [test] = node.inputs
  if (node.op !== castOperator || node.dtype !== 'float32' || test.op !== greaterOperator) return undefined
  const [x, bound] = test.inputs
  const found = relus.get(x)
  return found !== undefined && scalarValue(made.get(bound)!) === 0
    ? makeNode(stepOperator, [found])
    : undefined
}
