import { makeNode } from '../node.ts'
import type { Operand, Operator, Tensor } from '../types.ts'
import { lift } from './constant.ts'
import { elementwise } from './elementwise.ts'

const numbers = ['float32', 'int32'] as const

export const equalOperator: Operator = elementwise({
  name: 'equal',
  onnx: 'Equal',
  arity: 2,
  accepts: ['float32', 'int32', 'bool'],
  result: 'bool',
  compute: (a, b) => (a === b ? 1 : 0),
})

export const lessOperator: Operator = elementwise({
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

export const andOperator: Operator = elementwise({
  name: 'and',
  onnx: 'And',
  arity: 2,
  accepts: ['bool'],
  compute: (a, b) => a & b,
})

export const notOperator: Operator = elementwise({
  name: 'not',
  onnx: 'Not',
  arity: 1,
  accepts: ['bool'],
  compute: (a) => 1 - a,
})

/** a == b, bool, broadcasting. No gradient flows through comparisons. */
export function equal(a: Operand, b: Operand): Tensor {
  return makeNode(equalOperator, [lift(a, b), lift(b, a)])
}
/** a < b, bool, broadcasting. */
export function less(a: Operand, b: Operand): Tensor {
  return makeNode(lessOperator, [lift(a, b), lift(b, a)])
}
/** a > b, bool, broadcasting. */
export function greater(a: Operand, b: Operand): Tensor {
  return makeNode(greaterOperator, [lift(a, b), lift(b, a)])
}
/** Both, of booleans, broadcasting. */
export function and(a: Tensor, b: Tensor): Tensor {
  return makeNode(andOperator, [a, b])
}
/** The contrary of a boolean. */
export function not(a: Tensor): Tensor {
  return makeNode(notOperator, [a])
}
