import { makeNode, type Operator, type Tensor, type Value } from '../node.ts'
import type { LowerContext } from '../onnx/model.ts'
import { shapeError } from '../shape.ts'
import { allocate } from './elementwise.ts'

function overRows(x: Value, shape: readonly number[], logarithm: boolean): Value {
  const width = shape.at(-1)!
  const data = allocate('float32', x.data.length)
  for (let start = 0; start < data.length; start += width) {
    let top = -Infinity
    for (let i = start; i < start + width; i++) top = Math.max(top, x.data[i])
    let total = 0
    for (let i = start; i < start + width; i++) total += Math.exp(x.data[i] - top)
    const shift = top + Math.log(total)
    for (let i = start; i < start + width; i++)
      data[i] = logarithm ? x.data[i] - shift : Math.exp(x.data[i] - top) / total
  }
  return { data, shape }
}

function inferSoftmax(name: string): Operator['infer'] {
  return ([x]) => {
    if (x.dtype !== 'float32' || x.shape.length === 0)
      throw shapeError(name, [x], 'float32 of rank 1 or more')
    return { shape: x.shape, dtype: 'float32' }
  }
}

export const softmaxOperator: Operator = {
  name: 'softmax',
  infer: inferSoftmax('softmax'),
  lower: (context, _, inputs) => context.emit('Softmax', inputs, { axis: { int: -1 } }),
  evaluate: (_, [x], shape) => overRows(x, shape, false),
  gradient: (node, dy, t) => {
    const inner = t.sum(t.mul(dy, node), { axes: [-1], keepDims: true })
    return [t.mul(node, t.sub(dy, inner))]
  },
}

export const logSoftmaxOperator: Operator = {
  name: 'logSoftmax',
  infer: inferSoftmax('logSoftmax'),
  lower: (context, _, inputs) => context.emit('LogSoftmax', inputs, { axis: { int: -1 } }),
  evaluate: (_, [x], shape) => overRows(x, shape, true),
  gradient: (node, dy, t) => [t.sub(dy, t.mul(t.exp(node), t.sum(dy, { axes: [-1], keepDims: true })))],
}

/** Softmax over the last axis. */
export function softmax(x: Tensor): Tensor {
  return makeNode(softmaxOperator, [x])
}
/** Logarithm of the softmax over the last axis, without overflow. */
export function logSoftmax(x: Tensor): Tensor {
  return makeNode(logSoftmaxOperator, [x])
}

const inferNormalised: Operator['infer'] = ([x]) => {
  if (x.dtype !== 'float32' || typeof x.shape.at(-1) !== 'number')
    throw shapeError('rmsNormalise', [x], 'float32 whose last axis has a known length')
  return { shape: x.shape, dtype: 'float32' }
}

/** One pass instead of five. The runtime registers this operator in the standard domain. */
function emit(context: LowerContext, node: Tensor, x: string, count: number): readonly string[] {
  const width = node.inputs[0].shape.at(-1) as number
  const ones = context.initializer(new Float32Array(width).fill(1), [width], 'float32')
  const attributes = {
    axis: { int: -1 },
    epsilon: { float: node.attributes.epsilon as number },
    stash_type: { int: 1 },
  }
  return context.emitAll(count, 'SimplifiedLayerNormalization', [x, ones], attributes)
}

/** 1 / the root mean square of a row of this many numbers that begins at `start`. */
function scaleOf(data: Value['data'], start: number, width: number, epsilon: number): number {
  let squares = 0
  for (let i = start; i < start + width; i++) squares += data[i] ** 2
  return 1 / Math.sqrt(squares / width + epsilon)
}

const rmsNormaliseOperator: Operator = {
  name: 'rmsNormalise',
  infer: inferNormalised,
  lower: (context, node, [x]) => emit(context, node, x, node.attributes.withScale === true ? 2 : 1)[0],
  evaluate: (node, [x], shape) => {
    const width = shape.at(-1)!
    const data = allocate('float32', x.data.length)
    for (let start = 0; start < data.length; start += width) {
      const scale = scaleOf(x.data, start, width, node.attributes.epsilon as number)
      for (let i = start; i < start + width; i++) data[i] = x.data[i] * scale
    }
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const over = { axes: [-1], keepDims: true }
    const scale = t.rsqrt(t.add(t.mean(t.square(node.inputs[0]), over), node.attributes.epsilon as number))
    return [t.mul(scale, t.sub(dy, t.mul(node, t.mean(t.mul(dy, node), over))))]
  },
}

/** The factor of each row. */
const rmsScaleOperator: Operator = {
  name: 'rmsScale',
  infer: (inputs, attributes) => {
    const { shape, dtype } = inferNormalised(inputs, attributes)
    return { shape: [...shape.slice(0, -1), 1], dtype }
  },
  lower(context, node, [x]) {
    if (context.device === 'cpu') return emit(context, node, x, 2)[1]
    // Other devices compute the second result wrong.
    const squares = context.emit('ReduceMean', [context.emit('Mul', [x, x]), context.int64([-1])])
    const epsilon = context.initializer(Float32Array.of(node.attributes.epsilon as number), [], 'float32')
    return context.emit('Reciprocal', [context.emit('Sqrt', [context.emit('Add', [squares, epsilon])])])
  },
  evaluate: (node, [x], shape) => {
    const width = x.shape.at(-1)!
    const data = allocate('float32', x.data.length / width)
    for (let row = 0; row < data.length; row++)
      data[row] = scaleOf(x.data, row * width, width, node.attributes.epsilon as number)
    return { data, shape }
  },
  gradient: (node, dScale, t) => {
    const [x] = node.inputs
    const cube = t.mul(t.square(node), node)
    return [t.mul(t.mul(dScale, t.mul(cube, -1 / (x.shape.at(-1) as number))), x)]
  },
}

/** Divides x by its root mean square over the last axis, with epsilon added to the mean square (Zhang & Sennrich 2019). */
export function rmsNormalise(x: Tensor, epsilon: number): Tensor {
  return makeNode(rmsNormaliseOperator, [x], { epsilon })
}

/** The same, and the factor [..., 1] that x was multiplied by. */
export function rmsNormaliseWithScale(x: Tensor, epsilon: number): { y: Tensor; scale: Tensor } {
  return {
    y: makeNode(rmsNormaliseOperator, [x], { epsilon, withScale: true }),
    scale: makeNode(rmsScaleOperator, [x], { epsilon }),
  }
}
