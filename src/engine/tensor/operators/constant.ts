import { AgogeError } from '../../../error.ts'
import { dtypeOf } from '../bindings.ts'
import {
  type Dim,
  type DType,
  type HostData,
  makeNode,
  type Operand,
  type Operator,
  type Shape,
  type Tensor,
} from '../node.ts'
import { canonical, canonicalShape, sizeOf } from '../shape.ts'
import { broadcastTo } from './reshape.ts'

export const constantOperator: Operator = {
  name: 'constant',
  infer: (_, attributes) => ({
    shape: attributes.shape as readonly number[],
    dtype: attributes.dtype as DType,
  }),
  lower: (context, node) =>
    context.initializer(node.attributes.data as HostData, node.shape as readonly number[], node.dtype),
  evaluate: (node, _, shape) => {
    const data = node.attributes.data as HostData
    return { data: data instanceof Float32Array ? Float64Array.from(data) : data, shape }
  },
}

function hold(data: readonly number[] | HostData, dtype: DType): HostData {
  if (dtype === 'float32') return data instanceof Float32Array ? data : Float32Array.from(data)
  if (dtype === 'int32') return data instanceof Int32Array ? data : Int32Array.from(data)
  if (dtype === 'int8') return data instanceof Int8Array ? data : Int8Array.from(data)
  return data instanceof Uint8Array ? data : Uint8Array.from(data)
}

/**
 * A tensor of known values.
 *
 * @param shape default: `[length]` for a list of values, `[]` for a number
 * @param dtype default: that of the typed array, otherwise float32
 * @throws AgogeError `shape-mismatch` if the number of values differs from the size of the shape
 */
export function constant(
  data: number | readonly number[] | HostData,
  shape?: readonly number[],
  dtype?: DType,
): Tensor {
  const values = typeof data === 'number' ? [data] : data
  const own = shape ?? (typeof data === 'number' ? [] : [values.length])
  const kind = dtype ?? (Array.isArray(values) ? 'float32' : dtypeOf({ data: values as HostData }))
  if (sizeOf(own) !== values.length)
    throw new AgogeError(`constant: ${values.length} values do not fill the shape [${own.join(', ')}]`, {
      code: 'shape-mismatch',
      given: values.length,
      expected: `${sizeOf(own)} values`,
    })
  return makeNode(constantOperator, [], { data: hold(values, kind), shape: own, dtype: kind })
}

/** Turns a number into a constant of the type of `partner`. */
export function lift(operand: Operand, worker?: Operand): Tensor {
  if (typeof operand !== 'number') return operand
  const dtype = worker !== undefined && typeof worker !== 'number' ? worker.dtype : 'float32'
  return constant(operand, [], dtype)
}

/** The value of a constant with one element, otherwise undefined. */
export function scalarValue(node: Tensor): number | undefined {
  if (node.op !== constantOperator) return undefined
  const data = node.attributes.data as HostData
  return data.length === 1 ? data[0] : undefined
}

/** Float zeros. Stores a single number if the operators can broadcast it. */
export function zeros(shape: Shape): Tensor {
  return broadcastTo(constant(0), shape)
}

export const iotaOperator: Operator = {
  name: 'iota',
  infer: (_, attributes) => ({ shape: [attributes.size as Dim], dtype: 'int32' }),
  lower: (context, node) => {
    const range = context.emit('Range', [
      context.int64([0], true),
      context.size(node.attributes.size as Dim),
      context.int64([1], true),
    ])
    return context.emit('Cast', [range], { to: { int: 6 } })
  },
  evaluate: (_, __, shape) => ({ data: Int32Array.from({ length: shape[0] }, (_, i) => i), shape }),
}

/** 0, 1, ... size - 1 as int32 of shape [size]. */
export function iota(size: Dim): Tensor {
  if (typeof size === 'number') return constant(Int32Array.from({ length: size }, (_, i) => i))
  return makeNode(iotaOperator, [], { size: canonical(size) })
}

export const inputOperator: Operator = {
  name: 'input',
  infer: (_, attributes) => ({ shape: attributes.shape as Shape, dtype: attributes.dtype as DType }),
  lower: (_, node) => node.attributes.name as string,
  evaluate: (node) => {
    throw new AgogeError(`no value was given for the input ${String(node.attributes.name)}`, {
      code: 'missing-input',
      expected: 'a feed for every input of the graph',
    })
  },
}

/** A named input of a graph. Each run provides its value. */
export function input(name: string, shape: Shape, dtype: DType = 'float32'): Tensor {
  return makeNode(inputOperator, [], { name, shape: canonicalShape(shape), dtype })
}
