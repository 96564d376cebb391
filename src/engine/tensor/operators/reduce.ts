import { makeNode, type Operator, type Shape, type Tensor, type Value } from '../node.ts'
import type { Operations } from '../gradients.ts'
import {
  dimValue,
  multiplyDims,
  normaliseAxis,
  offsets,
  sameShape,
  shapeError,
  sizeOf,
  stridesOf,
} from '../shape.ts'
import { allocate } from './elementwise.ts'
import { reshape } from './reshape.ts'

interface ReduceOptions {
  /** Axes to reduce. Negative axes count from the end. Default: all. */
  axes?: readonly number[]
  /** Keeps the reduced axes with size 1. Default: false. */
  keepDims?: boolean
}

const axesOf = (node: Tensor) => node.attributes.axes as readonly number[]

/** The shape of the result with reduced axes of size 1, for broadcasting against the input. */
function kept(node: Tensor): Shape {
  return node.inputs[0].shape.map((dim, axis) => (axesOf(node).includes(axis) ? 1 : dim))
}

function reduction(
  name: string,
  onnx: string,
  start: number,
  combine: (total: number, value: number) => number,
  gradient: (t: Operations, node: Tensor, upstream: Tensor) => Tensor,
  finish: (total: number, count: number) => number = (total) => total,
): Operator {
  return {
    name,
    infer: ([x], attributes) => {
      if (x.dtype === 'bool') throw shapeError(name, [x], 'numbers: cast booleans first')
      const axes = attributes.axes as readonly number[]
      const shape = x.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim))
      return {
        shape: attributes.keepDims === true ? shape : shape.filter((_, axis) => !axes.includes(axis)),
        dtype: x.dtype,
      }
    },
    lower: (context, node, [x]) =>
      context.emit(onnx, [x, context.int64(axesOf(node))], {
        keepdims: { int: node.attributes.keepDims === true ? 1 : 0 },
      }),
    evaluate: (node, [x], shape, bindings) => {
      const axes = axesOf(node)
      const stateOfShape = kept(node).map((dim) => dimValue(dim, bindings))
      const strides = stridesOf(stateOfShape).map((stride, axis) => (axes.includes(axis) ? 0 : stride))
      return { data: reduceValue(node, x, offsets(x.shape, strides), sizeOf(stateOfShape)), shape }
    },
    gradient: (node, upstream, t) => [gradient(t, node, t.reshape(upstream, kept(node)))],
  }

  function reduceValue(node: Tensor, x: Value, target: Int32Array, size: number): Value['data'] {
    const data = allocate(node.dtype, size).fill(node.dtype === 'int32' ? Math.max(start, -(2 ** 31)) : start)
    for (let i = 0; i < x.data.length; i++) data[target[i]] = combine(data[target[i]], x.data[i])
    for (let i = 0; i < size; i++) data[i] = finish(data[i], x.data.length / size)
    return data
  }
}

export const sumOperator: Operator = reduction(
  'sum',
  'ReduceSum',
  0,
  (total, value) => total + value,
  (t, node, dy) => t.broadcastTo(dy, node.inputs[0].shape),
)

const meanOperator: Operator = reduction(
  'mean',
  'ReduceMean',
  0,
  (total, value) => total + value,
  (t, node, dy) => {
    const x = node.inputs[0]
    const count = multiplyDims(axesOf(node).map((axis) => x.shape[axis]))
    if (typeof count === 'number') return t.broadcastTo(t.mul(dy, 1 / count), x.shape)
    // The size is only known at run time, so this counts ones.
    const ones = t.broadcastTo(t.constant(1), x.shape)
    return t.broadcastTo(t.div(dy, t.sum(ones, { axes: axesOf(node), keepDims: true })), x.shape)
  },
  (total, count) => total / count,
)

const maxOperator: Operator = reduction('max', 'ReduceMax', -Infinity, Math.max, (t, node, dy) => {
  const x = node.inputs[0]
  const hit = t.cast(t.equal(x, t.reshape(node, kept(node))), 'float32')
  return t.mul(t.div(dy, t.sum(hit, { axes: axesOf(node), keepDims: true })), hit)
})

function reduce(operator: Operator, x: Tensor, options: ReduceOptions): Tensor {
  const axes = (options.axes ?? x.shape.map((_, axis) => axis)).map((axis) =>
    normaliseAxis(operator.name, x, axis),
  )
  if (axes.length === 0) return x
  return makeNode(operator, [x], {
    axes: [...new Set(axes)].sort((a, b) => a - b),
    keepDims: options.keepDims ?? false,
  })
}

/** Sum over axes. Default: all axes. */
export function sum(x: Tensor, options: ReduceOptions = {}): Tensor {
  return reduce(sumOperator, x, options)
}
/** Arithmetic mean over axes. Default: all axes. */
export function mean(x: Tensor, options: ReduceOptions = {}): Tensor {
  return reduce(meanOperator, x, options)
}
/** Largest value over axes. Default: all axes. Ties share the gradient. */
export function max(x: Tensor, options: ReduceOptions = {}): Tensor {
  return reduce(maxOperator, x, options)
}

/** Sums over the axes along which a tensor of `shape` was broadcast to `x`. */
export function sumTo(x: Tensor, shape: Shape): Tensor {
  if (sameShape(x.shape, shape)) return x
  const lead = x.shape.length - shape.length
  const axes = x.shape.flatMap((dim, axis) =>
    axis < lead || (shape[axis - lead] === 1 && dim !== 1) ? [axis] : [],
  )
  return reshape(sum(x, { axes, keepDims: axes.some((axis) => axis >= lead) }), shape)
}
