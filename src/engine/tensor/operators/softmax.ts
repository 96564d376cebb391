import { makeNode } from '../node.ts'
import { shapeError } from '../shape.ts'
import type { Operator, Tensor, Value } from '../types.ts'
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

function infer(name: string): Operator['infer'] {
  return ([x]) => {
    if (x.dtype !== 'float32' || x.shape.length === 0)
      throw shapeError(name, [x], 'float32 of rank 1 or more')
    return { shape: x.shape, dtype: 'float32' }
  }
}

export const softmaxOperator: Operator = {
  name: 'softmax',
  infer: infer('softmax'),
  lower: (context, _, inputs) => context.emit('Softmax', inputs, { axis: { int: -1 } }),
  evaluate: (_, [x], shape) => overRows(x, shape, false),
  gradient: (node, dy, t) => {
    const inner = t.sum(t.mul(dy, node), { axes: [-1], keepDims: true })
    return [t.mul(node, t.sub(dy, inner))]
  },
}

export const logSoftmaxOperator: Operator = {
  name: 'logSoftmax',
  infer: infer('logSoftmax'),
  lower: (context, _, inputs) => context.emit('LogSoftmax', inputs, { axis: { int: -1 } }),
  evaluate: (_, [x], shape) => overRows(x, shape, true),
  gradient: (node, dy, t) => [t.sub(dy, t.mul(t.exp(node), t.sum(dy, { axes: [-1], keepDims: true })))],
}

/** exp(x) divided by its sum, over the last axis. */
export function softmax(x: Tensor): Tensor {
  return makeNode(softmaxOperator, [x])
}
/** The logarithm of softmax, over the last axis, without overflow. */
export function logSoftmax(x: Tensor): Tensor {
  return makeNode(logSoftmaxOperator, [x])
}
