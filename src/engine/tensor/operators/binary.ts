import { makeNode, type Operand, type Operator, type Tensor } from '../node.ts'
import type { Operations } from '../gradients.ts'
import { lift } from './constant.ts'
import { elementwise } from './elementwise.ts'
import { matmulOperator } from './matmul.ts'

const numbers = ['float32', 'int32'] as const

/** Sums a gradient over the axes along which an operand was broadcast. */
function fitted(
  t: Operations,
  node: Tensor,
  ...contributions: (Tensor | undefined)[]
): (Tensor | undefined)[] {
  return contributions.map((part, i) =>
    part === undefined ? undefined : t.sumTo(part, node.inputs[i].shape),
  )
}

export const addOperator: Operator = elementwise({
  name: 'add',
  onnx: 'Add',
  arity: 2,
  accepts: numbers,
  compute: (a, b) => a + b,
  gradient: (node, dy, t) => fitted(t, node, dy, dy),
})

export const subOperator: Operator = elementwise({
  name: 'sub',
  onnx: 'Sub',
  arity: 2,
  accepts: numbers,
  compute: (a, b) => a - b,
  gradient: (node, dy, t) => fitted(t, node, dy, t.neg(dy)),
})

export const mulOperator: Operator = elementwise({
  name: 'mul',
  onnx: 'Mul',
  arity: 2,
  accepts: numbers,
  compute: (a, b) => a * b,
  gradient: (node, dy, t) => fitted(t, node, t.mul(dy, node.inputs[1]), t.mul(dy, node.inputs[0])),
})

export const divOperator: Operator = elementwise({
  name: 'div',
  onnx: 'Div',
  arity: 2,
  accepts: numbers,
  compute: (a, b) => a / b,
  gradient: (node, dy, t) => {
    const scaled = t.div(dy, node.inputs[1])
    return fitted(t, node, scaled, t.neg(t.mul(scaled, node)))
  },
})

const powOperator: Operator = elementwise({
  name: 'pow',
  onnx: 'Pow',
  arity: 2,
  accepts: ['float32'],
  compute: (a, b) => a ** b,
  gradient: (node, dy, t) => {
    const [x, exponent] = node.inputs
    return fitted(
      t,
      node,
      t.mul(dy, t.mul(exponent, t.pow(x, t.sub(exponent, 1)))),
      t.mul(dy, t.mul(node, t.log(x))),
    )
  },
})

/** 1 where a > b, 1/2 where equal, else 0. Ties share the gradient, as in PyTorch. */
function preference(t: Operations, a: Tensor, b: Tensor): Tensor {
  return t.add(t.cast(t.greater(a, b), 'float32'), t.mul(t.cast(t.equal(a, b), 'float32'), 0.5))
}

const maximumOperator: Operator = elementwise({
  name: 'maximum',
  onnx: 'Max',
  arity: 2,
  accepts: numbers,
  compute: (a, b) => Math.max(a, b),
  gradient: (node, dy, t) => {
    const [a, b] = node.inputs
    return fitted(t, node, t.mul(dy, preference(t, a, b)), t.mul(dy, preference(t, b, a)))
  },
})

const minimumOperator: Operator = elementwise({
  name: 'minimum',
  onnx: 'Min',
  arity: 2,
  accepts: numbers,
  compute: (a, b) => Math.min(a, b),
  gradient: (node, dy, t) => {
    const [a, b] = node.inputs
    return fitted(t, node, t.mul(dy, preference(t, b, a)), t.mul(dy, preference(t, a, b)))
  },
})

function binary(operator: Operator, a: Operand, b: Operand): Tensor {
  return makeNode(operator, [lift(a, b), lift(b, a)])
}

/** a + b, broadcasting. */
export function add(a: Operand, b: Operand): Tensor {
  return binary(addOperator, a, b)
}
/** a - b, broadcasting. */
export function sub(a: Operand, b: Operand): Tensor {
  return binary(subOperator, a, b)
}
/** a * b, broadcasting. */
export function mul(a: Operand, b: Operand): Tensor {
  return binary(mulOperator, a, b)
}
/** a / b, broadcasting. Integers round towards zero. */
export function div(a: Operand, b: Operand): Tensor {
  return binary(divOperator, a, b)
}
/** a to the power of b, broadcasting; float32. */
export function pow(a: Operand, b: Operand): Tensor {
  return binary(powOperator, a, b)
}
/** The larger of a and b, broadcasting. Ties share the gradient. */
export function maximum(a: Operand, b: Operand): Tensor {
  return binary(maximumOperator, a, b)
}
/** The smaller of a and b, broadcasting. Ties share the gradient. */
export function minimum(a: Operand, b: Operand): Tensor {
  return binary(minimumOperator, a, b)
}

/** A matrix product plus a row. Only for compiled graphs: it has no gradient. */
export const affineOperator: Operator = {
  name: 'affine',
  infer: ([a, b], attributes) => matmulOperator.infer([a, b], attributes),
  lower: (context, { attributes }, inputs) =>
    context.emit('Gemm', inputs, {
      transA: { int: attributes['transposeA'] === true ? 1 : 0 },
      transB: { int: attributes['transposeB'] === true ? 1 : 0 },
    }),
  evaluate(node, [a, b, row], shape, bindings) {
    const product = matmulOperator.evaluate(node, [a, b], shape, bindings)
    return addOperator.evaluate(node, [product, row], shape, bindings)
  },
}
