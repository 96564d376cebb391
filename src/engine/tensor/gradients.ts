import { add, div, maximum, minimum, mul, pow, sub } from './operators/binary.ts'
import { broadcastTo, reshape, transpose } from './operators/reshape.ts'
import {
  abs,
  cast,
  cos,
  exp,
  log,
  neg,
  relu,
  rsqrt,
  sigmoid,
  sign,
  silu,
  sin,
  sqrt,
  square,
  stopGradient,
  tanh,
} from './operators/elementwise.ts'
import { and, equal, greater, less, not, where } from './operators/compare.ts'
import { concat, pad, slice, padOperator } from './operators/slice.ts'
import { constant, iota, zeros } from './operators/constant.ts'
import { conv2d, convTranspose2d } from './operators/convolution.ts'
import { gather, scatterAlong, scatterRows, takeAlong } from './operators/gather.ts'
import { matmul } from './operators/matmul.ts'
import { max, mean, sum, sumTo } from './operators/reduce.ts'
import { logSoftmax, rmsNormalise, softmax } from './operators/normalise.ts'
import { rotate } from './operators/rotate.ts'
import { topologicalOrder } from './node.ts'
import type { Dim, Tensor } from './node.ts'
import { addDims, shapeError } from './shape.ts'

/**
 * All operators as functions over tensors. Gradient rules get this record, because they would otherwise import
 * each other in a cycle: the gradient of a product needs sums, and that of a sum needs products.
 */
const operations = {
  abs,
  add,
  and,
  broadcastTo,
  cast,
  concat,
  constant,
  conv2d,
  convTranspose2d,
  cos,
  div,
  equal,
  exp,
  gather,
  greater,
  iota,
  less,
  log,
  logSoftmax,
  matmul,
  max,
  maximum,
  mean,
  minimum,
  mul,
  neg,
  not,
  pad,
  pow,
  relu,
  reshape,
  rmsNormalise,
  rotate,
  rsqrt,
  scatterAlong,
  scatterRows,
  sigmoid,
  sign,
  silu,
  sin,
  slice,
  softmax,
  sqrt,
  square,
  stopGradient,
  sub,
  sum,
  sumTo,
  takeAlong,
  tanh,
  transpose,
  where,
  zeros,
}

export type Operations = typeof operations

/**
 * Reverse-mode gradients of a scalar. The results are traced tensors that can be differentiated again.
 *
 * @param scalar float32 of shape []
 * @returns one tensor for each of `wrt`, with the same shape. Zeros if the scalar does not depend on it.
 * @throws AgogeError `shape-mismatch` if `scalar` is not a float32 scalar
 *
 * @example
 * const [slope] = gradients(sum(mul(x, x)), [x])
 */
export function gradients(scalar: Tensor, wrt: readonly Tensor[]): Tensor[] {
  if (scalar.shape.length > 0 || scalar.dtype !== 'float32')
    throw shapeError('gradients', [scalar], 'a float32 scalar: sum the loss first')
  const order = topologicalOrder([scalar])
  const targets = new Set(wrt)
  const depends = new Set<Tensor>()
  for (const node of order)
    if (targets.has(node) || node.inputs.some((input) => depends.has(input))) depends.add(node)

  const parts = new Map<Tensor, Tensor[]>([[scalar, [constant(1)]]])
  const totals = new Map<Tensor, Tensor>()
  for (const node of order.reverse()) {
    const own = parts.get(node)
    if (own === undefined || !depends.has(node)) continue
    const upstream = accumulate(own)
    if (targets.has(node)) totals.set(node, upstream)
    if (!node.inputs.some((input) => depends.has(input))) continue
    node.op.gradient?.(node, upstream, operations).forEach((part, i) => {
      const input = node.inputs[i]
      if (part === undefined || !depends.has(input)) return
      const list = parts.get(input)
      if (list === undefined) parts.set(input, [part])
      else list.push(part)
    })
  }
  return wrt.map((node) => totals.get(node) ?? zeros(node.shape))
}

function accumulate(parts: readonly Tensor[]): Tensor {
  return joinSlices(parts) ?? parts.reduce((total, part) => add(total, part))
}

/** Concatenates the gradients of slices that tile an axis, instead of padding and adding them. */
function joinSlices(parts: readonly Tensor[]): Tensor | undefined {
  if (parts.length < 2 || parts.some((part) => part.op !== padOperator)) return undefined
  const axis = parts[0].attributes.axis as number
  const pieces: Tensor[] = []
  let at: Dim = 0
  while (pieces.length < parts.length) {
    const next = parts.find(
      (part) =>
        part.attributes.axis === axis && part.attributes.before === at && !pieces.includes(part.inputs[0]),
    )
    if (next === undefined) return undefined
    pieces.push(next.inputs[0])
    at = addDims(at, next.inputs[0].shape[axis])
  }
  return at === parts[0].shape[axis] ? concat(pieces, axis) : undefined
}
