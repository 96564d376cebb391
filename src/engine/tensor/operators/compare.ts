import { makeNode, type Operand, type Operator, type Tensor } from '../node.ts'
import { broadcastOffsets, broadcastShapes, shapeError, sizeOf } from '../shape.ts'
import { lift } from './constant.ts'
import { allocate, elementwise, onnxTypes } from './elementwise.ts'

const numbers = ['float32', 'int32'] as const

const equalOperator: Operator = elementwise({
  name: 'equal',
  onnx: 'Equal',
  arity: 2,
  accepts: ['float32', 'int32', 'bool'],
  result: 'bool',
  compute: (a, b) => (a === b ? 1 : 0),
})

const lessOperator: Operator = elementwise({
  name: 'less',
  onnx: 'Less',
  arity: 2,
  accepts: numbers,
  result: 'bool',
  compute: (a, b) => (a < b ? 1 : 0),
})

export const greaterOperator: Operator = elementwise({
  name: 'greater',
  onnx: 'Greater',
  arity: 2,
  accepts: numbers,
  result: 'bool',
  compute: (a, b) => (a > b ? 1 : 0),
})

const andOperator: Operator = elementwise({
  name: 'and',
  onnx: 'And',
  arity: 2,
  accepts: ['bool'],
  compute: (a, b) => a & b,
})

const notOperator: Operator = elementwise({
  name: 'not',
  onnx: 'Not',
  arity: 1,
  accepts: ['bool'],
  compute: (a) => 1 - a,
})

/** a == b as bool, broadcasting. Comparisons have no gradient. */
export function equal(a: Operand, b: Operand): Tensor {
  return makeNode(equalOperator, [lift(a, b), lift(b, a)])
}
/** a < b as bool, broadcasting. */
export function less(a: Operand, b: Operand): Tensor {
  return makeNode(lessOperator, [lift(a, b), lift(b, a)])
}
/** a > b as bool, broadcasting. */
export function greater(a: Operand, b: Operand): Tensor {
  return makeNode(greaterOperator, [lift(a, b), lift(b, a)])
}
/** Logical and of booleans, broadcasting. */
export function and(a: Tensor, b: Tensor): Tensor {
  return makeNode(andOperator, [a, b])
}
/** Logical not of a boolean. */
export function not(a: Tensor): Tensor {
  return makeNode(notOperator, [a])
}

/**
 * 1 where x is above 0, else 0, in one pass of the runtime: clips x times a slope so steep that the smallest
 * normal number becomes 1. Only for compiled graphs: it has no gradient.
 */
export const stepOperator: Operator = {
  ...elementwise({
    name: 'step',
    onnx: 'HardSigmoid',
    arity: 1,
    accepts: ['float32'],
    compute: (x) => (x > 0 ? 1 : 0),
  }),
  lower: (context, _, inputs) =>
    context.emit('HardSigmoid', inputs, { alpha: { float: 1e38 }, beta: { float: 0 } }),
}

/** The code of bytes in ONNX's TensorProto.DataType. */
const uint8 = 2

const whereOperator: Operator = {
  name: 'where',
  infer: (inputs) => {
    const [condition, a, b] = inputs
    if (condition.dtype !== 'bool' || a.dtype !== b.dtype)
      throw shapeError('where', inputs, 'a bool condition and two values of one type')
    return { shape: broadcastShapes('where', inputs), dtype: a.dtype }
  },
  lower: (context, node, inputs) => {
    if (node.dtype !== 'bool') return context.emit('Where', inputs)
    // The CPU provider has no Where for booleans, but has one for bytes.
    const [a, b] = inputs.slice(1).map((name) => context.emit('Cast', [name], { to: { int: uint8 } }))
    return context.emit('Cast', [context.emit('Where', [inputs[0], a, b])], { to: { int: onnxTypes.bool } })
  },
  evaluate: (node, inputs, shape) => {
    const size = sizeOf(shape)
    const [c, a, b] = inputs.map((value) => broadcastOffsets(value.shape, shape))
    const data = allocate(node.dtype, size)
    for (let i = 0; i < size; i++)
      data[i] = inputs[0].data[c[i]] === 0 ? inputs[2].data[b[i]] : inputs[1].data[a[i]]
    return { data, shape }
  },
  gradient: (node, dy, t) => {
    const [condition, a, b] = node.inputs
    return [
      undefined,
      t.sumTo(t.where(condition, dy, 0), a.shape),
      t.sumTo(t.where(condition, 0, dy), b.shape),
    ]
  },
}

/** a where the condition is true, else b, broadcasting. */
export function where(condition: Tensor, a: Operand, b: Operand): Tensor {
  return makeNode(whereOperator, [condition, lift(a, b), lift(b, a)])
}
