import { defined } from '../../../defined.ts'
import { broadcastOffsets, broadcastShapes, sameShape, shapeError, sizeOf } from '../shape.ts'
import { makeNode } from '../node.ts'
import type { DType, Operator, Value, Tensor } from '../node.ts'
import type { Operations } from '../gradients.ts'

interface Elementwise {
  name: string
  /** The ONNX operator, if a single one is enough. */
  onnx: string
  arity: 1 | 2
  accepts: readonly DType[]
  /** Type of the result. Default: that of the inputs. */
  result?: DType
  compute: (a: number, b: number) => number
  gradient?: Operator['gradient']
  lower?: Operator['lower']
}

export function allocate(dtype: DType, size: number): Value['data'] {
  if (dtype === 'float32') return new Float64Array(size)
  if (dtype === 'int32') return new Int32Array(size)
  return dtype === 'int8' ? new Int8Array(size) : new Uint8Array(size)
}

/** Defines an elementwise operator with broadcasting. */
export function elementwise(definition: Elementwise): Operator {
  const { name, onnx, arity, accepts, result, compute } = definition
  return {
    name,
    infer: (inputs) => {
      const [first] = inputs
      if (
        inputs.length !== arity ||
        inputs.some((x) => x.dtype !== first.dtype || !accepts.includes(x.dtype))
      )
        throw shapeError(name, inputs, `${arity} input(s) of one type, ${accepts.join(' or ')}`)
      return { shape: broadcastShapes(name, inputs), dtype: result ?? first.dtype }
    },
    lower: definition.lower ?? ((context, _, inputs) => context.emit(onnx, inputs)),
    evaluate: (node, inputs, shape) => {
      const size = sizeOf(shape)
      const data = allocate(node.dtype, size)
      const [a, b] = inputs
      if (b === undefined || (sameShape(a.shape, shape) && sameShape(b.shape, shape)))
        for (let i = 0; i < size; i++) data[i] = compute(a.data[i], b === undefined ? 0 : b.data[i])
      else {
        const left = broadcastOffsets(a.shape, shape)
        const right = broadcastOffsets(b.shape, shape)
        for (let i = 0; i < size; i++) data[i] = compute(a.data[left[i]], b.data[right[i]])
      }
      return { data, shape }
    },
    ...defined({ gradient: definition.gradient }),
  }
}

/** Computes the gradient of x from the gradient of y, the result of the operator. */
type Derivative = (t: Operations, dy: Tensor, x: Tensor, y: Tensor) => Tensor

function unary(
  name: string,
  onnx: string,
  compute: (x: number) => number,
  derivative: Derivative | undefined,
  lower?: Operator['lower'],
): Operator {
  return elementwise({
    name,
    onnx,
    arity: 1,
    accepts: ['neg', 'abs', 'sign'].includes(name) ? ['float32', 'int32'] : ['float32'],
    compute,
    ...(derivative === undefined
      ? {}
      : { gradient: (node, upstream, t) => [derivative(t, upstream, node.inputs[0], node)] }),
    ...defined({ lower }),
  })
}

const logistic = (x: number) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)))

export const negOperator = unary(
  'neg',
  'Neg',
  (x) => -x,
  (t, dy) => t.neg(dy),
)
const expOperator = unary('exp', 'Exp', Math.exp, (t, dy, _, y) => t.mul(dy, y))
const logOperator = unary('log', 'Log', Math.log, (t, dy, x) => t.div(dy, x))
const sqrtOperator = unary('sqrt', 'Sqrt', Math.sqrt, (t, dy, _, y) => t.div(t.mul(dy, 0.5), y))
const rsqrtOperator = unary(
  'rsqrt',
  'Reciprocal',
  (x) => 1 / Math.sqrt(x),
  (t, dy, x, y) => t.mul(dy, t.mul(t.div(y, x), -0.5)),
  (context, _, inputs) => context.emit('Reciprocal', [context.emit('Sqrt', inputs)]),
)
const tanhOperator = unary('tanh', 'Tanh', Math.tanh, (t, dy, _, y) => t.mul(dy, t.sub(1, t.square(y))))
const sigmoidOperator = unary('sigmoid', 'Sigmoid', logistic, (t, dy, _, y) =>
  t.mul(dy, t.mul(y, t.sub(1, y))),
)
export const reluOperator = unary(
  'relu',
  'Relu',
  (x) => Math.max(0, x),
  (t, dy, x) => t.mul(dy, t.cast(t.greater(x, 0), 'float32')),
)
// silu'(x) = s + y (1 - s) with s = sigmoid(x), y = x s
const siluOperator = unary(
  'silu',
  'QuickGelu',
  (x) => x * logistic(x),
  (t, dy, x, y) => {
    const gate = t.sigmoid(x)
    return t.mul(dy, t.add(gate, t.mul(y, t.sub(1, gate))))
  },
  (context, _, inputs) => context.emit('QuickGelu', inputs, { alpha: { float: 1 } }, 'com.microsoft'),
)
const signOperator = unary('sign', 'Sign', Math.sign, undefined)
const absOperator = unary('abs', 'Abs', Math.abs, (t, dy, x) => t.mul(dy, t.sign(x)))
const sinOperator = unary('sin', 'Sin', Math.sin, (t, dy, x) => t.mul(dy, t.cos(x)))
const cosOperator = unary('cos', 'Cos', Math.cos, (t, dy, x) => t.neg(t.mul(dy, t.sin(x))))
const squareOperator = unary(
  'square',
  'Mul',
  (x) => x * x,
  (t, dy, x) => t.mul(dy, t.mul(x, 2)),
  (context, _, [x]) => context.emit('Mul', [x, x]),
)

/** -x. */
export function neg(x: Tensor): Tensor {
  return makeNode(negOperator, [x])
}
/** e to the power of x. */
export function exp(x: Tensor): Tensor {
  return makeNode(expOperator, [x])
}
/** Natural logarithm. */
export function log(x: Tensor): Tensor {
  return makeNode(logOperator, [x])
}
/** Square root. */
export function sqrt(x: Tensor): Tensor {
  return makeNode(sqrtOperator, [x])
}
/** 1 / sqrt(x). */
export function rsqrt(x: Tensor): Tensor {
  return makeNode(rsqrtOperator, [x])
}
/** Hyperbolic tangent. */
export function tanh(x: Tensor): Tensor {
  return makeNode(tanhOperator, [x])
}
/** 1 / (1 + exp(-x)). */
export function sigmoid(x: Tensor): Tensor {
  return makeNode(sigmoidOperator, [x])
}
/** max(x, 0). The gradient at 0 is 0. */
export function relu(x: Tensor): Tensor {
  return makeNode(reluOperator, [x])
}
/** x sigmoid(x), also called swish. */
export function silu(x: Tensor): Tensor {
  return makeNode(siluOperator, [x])
}
/** -1, 0 or 1. Has no gradient. */
export function sign(x: Tensor): Tensor {
  return makeNode(signOperator, [x])
}
/** Absolute value. The gradient at 0 is 0. */
export function abs(x: Tensor): Tensor {
  return makeNode(absOperator, [x])
}
/** Sine of radians. */
export function sin(x: Tensor): Tensor {
  return makeNode(sinOperator, [x])
}
/** Cosine of radians. */
export function cos(x: Tensor): Tensor {
  return makeNode(cosOperator, [x])
}
/** x * x. */
export function square(x: Tensor): Tensor {
  return makeNode(squareOperator, [x])
}

/** Codes of ONNX's TensorProto.DataType. */
export const onnxTypes = { float32: 1, int8: 3, int32: 6, bool: 9 } as const

export const castOperator: Operator = {
  name: 'cast',
  infer: ([x], attributes) => ({ shape: x.shape, dtype: attributes.dtype as DType }),
  lower: (context, node, inputs) => context.emit('Cast', inputs, { to: { int: onnxTypes[node.dtype] } }),
  evaluate: (node, [x], shape) => {
    const data = allocate(node.dtype, sizeOf(shape))
    for (let i = 0; i < data.length; i++)
      data[i] = node.dtype === 'bool' ? (x.data[i] === 0 ? 0 : 1) : x.data[i]
    return { data, shape }
  },
  gradient: (node, dy) => [node.dtype === 'float32' && node.inputs[0].dtype === 'float32' ? dy : undefined],
}

/** Converts to another type. Booleans become 0 or 1; floats are truncated towards zero. */
export function cast(x: Tensor, dtype: DType): Tensor {
  return x.dtype === dtype ? x : makeNode(castOperator, [x], { dtype })
}

export const stopGradientOperator: Operator = {
  name: 'stopGradient',
  infer: ([x]) => ({ shape: x.shape, dtype: x.dtype }),
  lower: (context, _, inputs) => context.emit('Identity', inputs),
  evaluate: (_, [x]) => x,
}

/** The same values without a gradient. */
export function stopGradient(x: Tensor): Tensor {
  return makeNode(stopGradientOperator, [x])
}
