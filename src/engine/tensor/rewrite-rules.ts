import { makeNode } from './node.ts'
import { addOperator, divOperator, mulOperator, subOperator } from './operators/binary.ts'
import { broadcastToOperator } from './operators/broadcast-to.ts'
import { scalarValue } from './operators/constant.ts'
import { scatterRowsOperator } from './operators/gather.ts'
import { matmulOperator } from './operators/matmul.ts'
import { sumOperator } from './operators/reduce.ts'
import { reshape, reshapeOperator } from './operators/reshape.ts'
import { stopGradientOperator } from './operators/stop-gradient.ts'
import { scatterAlongOperator } from './operators/take-along.ts'
import { transpose, transposeOperator } from './operators/transpose.ts'
import { negOperator } from './operators/unary.ts'
import { sameShape } from './shape.ts'
import type { Tensor } from './types.ts'

/**
 * A simpler tensor of the same values and shape, or undefined. `find` gives the node of the graph that equals
 * a candidate, if there is one: some rules only pay when what they need is computed anyway.
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

/** An elementwise operator broadcasts by itself when its other operand already has the shape. */
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

/** Swapping the last two axes is a flag of the product. */
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

/** A product times a number is the product with a scale, which costs nothing. */
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

/** y + scatter(0, ...) is scatter(y, ...): no array of zeros, no addition. */
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
 * sum(p * (g v^T)) over the last axis = sum(g * (p v)) when p v is there already: in the backward pass of
 * attention a sum over the head's width instead of over the time (FlashAttention, Dao et al. 2022, eq. 4).
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
    // a size known only at run time is taken to be the longer; strictly, so that the rule cannot undo itself
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

export const rewriteRules: readonly Rule[] = [
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
