import { type Dim, makeNode, type Operator, type Tensor } from '../node.ts'
import { addDims, canonical, dimValue, normaliseAxis, shapeError, sizeOf } from '../shape.ts'
import { allocate } from './elementwise.ts'

const sliceOperator: Operator = {
  name: 'slice',
  infer: ([x], attributes) => {
    const { axis, start, end } = attributes as { axis: number; start: Dim; end: Dim }
    const size = addDims(end, start, -1)
    const whole = x.shape[axis]
    if (typeof size === 'number' && (size < 0 || (typeof whole === 'number' && Number(end) > whole)))
      throw shapeError('slice', [x], `a range within axis ${axis}, not ${start} to ${end}`)
    return { shape: x.shape.map((dim, at) => (at === axis ? size : dim)), dtype: x.dtype }
  },
  lower: (context, node, [x]) => {
    const { axis, start, end } = node.attributes as { axis: number; start: Dim; end: Dim }
    return context.emit('Slice', [
      x,
      context.shapeTensor([start]),
      context.shapeTensor([end]),
      context.int64([axis]),
    ])
  },
  evaluate: (node, [x], shape, bindings) => {
    const axis = node.attributes.axis as number
    const start = dimValue(node.attributes.start as Dim, bindings)
    const inner = sizeOf(shape.slice(axis + 1))
    const width = shape[axis] * inner
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++)
      data[i] = x.data[Math.floor(i / width) * x.shape[axis] * inner + start * inner + (i % width)]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const { axis, start, end } = node.attributes as { axis: number; start: Dim; end: Dim }
    return [t.pad(dy, { axis, before: start, after: addDims(node.inputs[0].shape[axis], end, -1) })]
  },
}

export const padOperator: Operator = {
  name: 'pad',
  infer: ([x], attributes) => {
    const { axis, before, after } = attributes as { axis: number; before: Dim; after: Dim }
    const size = addDims(addDims(before, x.shape[axis]), after)
    return { shape: x.shape.map((dim, at) => (at === axis ? size : dim)), dtype: x.dtype }
  },
  lower: (context, node, [x]) => {
    const { axis, before, after } = node.attributes as { axis: number; before: Dim; after: Dim }
    const zero = context.initializer(
      node.dtype === 'float32'
        ? new Float32Array(1)
        : node.dtype === 'int32'
          ? new Int32Array(1)
          : new Uint8Array(1),
      [],
      node.dtype,
    )
    return context.emit('Pad', [x, context.shapeTensor([before, after]), zero, context.int64([axis])])
  },
  evaluate: (node, [x], shape, bindings) => {
    const axis = node.attributes.axis as number
    const before = dimValue(node.attributes.before as Dim, bindings)
    const inner = sizeOf(shape.slice(axis + 1))
    const width = x.shape[axis] * inner
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < x.data.length; i++)
      data[Math.floor(i / width) * shape[axis] * inner + before * inner + (i % width)] = x.data[i]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const { axis, before } = node.attributes as { axis: number; before: Dim }
    return [t.slice(dy, { axis, start: before, end: addDims(before, node.inputs[0].shape[axis]) })]
  },
}

/**
 * The part of x from `start` to `end` (exclusive) along an axis. Negative numbers count from the end. Sizes may
 * be symbols.
 */
export function slice(x: Tensor, options: { axis: number; start?: Dim; end?: Dim }): Tensor {
  const axis = normaliseAxis('slice', x, options.axis)
  const fromEnd = (dim: Dim) =>
    typeof dim === 'number' && dim < 0 ? addDims(x.shape[axis], dim) : canonical(dim)
  const start = fromEnd(options.start ?? 0)
  const end = fromEnd(options.end ?? x.shape[axis])
  if (start === 0 && end === x.shape[axis]) return x
  return makeNode(sliceOperator, [x], { axis, start, end })
}

/** Pads x with zeros before and after, along one axis. */
export function pad(x: Tensor, options: { axis: number; before?: Dim; after?: Dim }): Tensor {
  const before = canonical(options.before ?? 0)
  const after = canonical(options.after ?? 0)
  if (before === 0 && after === 0) return x
  return makeNode(padOperator, [x], { axis: normaliseAxis('pad', x, options.axis), before, after })
}

const concatOperator: Operator = {
  name: 'concat',
  infer: (inputs, attributes) => {
    const axis = attributes.axis as number
    const [first] = inputs
    const fits = inputs.every(
      (x) =>
        x.dtype === first.dtype &&
        x.shape.length === first.shape.length &&
        x.shape.every((dim, at) => at === axis || dim === first.shape[at]),
    )
    if (!fits) throw shapeError('concat', inputs, `one type and equal sizes but along axis ${axis}`)
    const total = inputs.map((x) => x.shape[axis]).reduce((a, b) => addDims(a, b))
    return { shape: first.shape.map((dim, at) => (at === axis ? total : dim)), dtype: first.dtype }
  },
  lower: (context, node, inputs) =>
    context.emit('Concat', inputs, { axis: { int: node.attributes.axis as number } }),
  evaluate: (node, inputs, shape) => {
    const axis = node.attributes.axis as number
    const data = allocate(node.dtype, sizeOf(shape))
    const inner = sizeOf(shape.slice(axis + 1))
    const row = shape[axis] * inner
    let at = 0
    for (const { data: part, shape: own } of inputs) {
      const width = own[axis] * inner
      for (let i = 0; i < part.length; i++) data[Math.floor(i / width) * row + at + (i % width)] = part[i]
      at += width
    }
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const axis = node.attributes.axis as number
    let start: Dim = 0
    return node.inputs.map((x) => {
      const end = addDims(start, x.shape[axis])
      const part = t.slice(dy, { axis, start, end })
      start = end
      return part
    })
  },
}

/** Concatenates tensors along an axis. */
export function concat(tensors: readonly Tensor[], axis: number): Tensor {
  if (tensors.length === 1) return tensors[0]
  return makeNode(concatOperator, tensors, { axis: normaliseAxis('concat', tensors[0], axis) })
}
