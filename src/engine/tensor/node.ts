import type { LowerContext } from './onnx/model.ts'
import type { Operations } from './gradients.ts'

/** Element types. On the host, booleans are bytes (0 or 1). `int8` holds the codes of quantised weights. */
export type DType = 'float32' | 'int32' | 'int8' | 'bool'

/** A number, or a sum of products of symbols and numbers: `'B'`, `'B*T'`, `'128*B'`, `'P+T'`. */
export type Dim = number | string

/** The size of each axis of a tensor. Empty for a scalar. */
export type Shape = readonly Dim[]

/** The numbers of a host tensor: float32, int32, int8, or bytes for booleans. */
export type HostData = Float32Array | Int32Array | Int8Array | Uint8Array

/** An array of numbers, row-major. Default `dtype`: that of the array's class; bytes are booleans. */
export interface HostTensor {
  data: HostData
  shape: readonly number[]
  dtype?: DType
}

/** Host tensors by name, such as the inputs of a program. */
export type Feeds = Readonly<Record<string, HostTensor>>

type Attribute = number | string | boolean | readonly Dim[] | HostData | undefined
export type Attributes = Readonly<Record<string, Attribute>>

/** An immutable node of a traced graph: its operator, inputs, shape and type. */
export interface Tensor {
  readonly id: number
  readonly op: Operator
  readonly inputs: readonly Tensor[]
  readonly attributes: Attributes
  readonly shape: Shape
  readonly dtype: DType
}

/** The argument of an operator. A number becomes a constant of the type of the other operand. */
export type Operand = Tensor | number

/** Values during reference evaluation. Floats are in double precision. */
export interface Value {
  data: Float64Array | Int32Array | Int8Array | Uint8Array
  shape: readonly number[]
}

interface Signature {
  shape: Shape
  dtype: DType
}

/** The definition of an operator. */
export interface Operator {
  readonly name: string
  /** The shape of the result. Throws AgogeError for inputs that do not fit. */
  infer(inputs: readonly Tensor[], attributes: Attributes): Signature
  /** Adds ONNX nodes and returns the name of the result. */
  lower(context: LowerContext, node: Tensor, inputs: readonly string[]): string
  /** Reference evaluation. `shape` is the concrete shape of the result. */
  evaluate(node: Tensor, inputs: readonly Value[], shape: readonly number[], bindings: Bindings): Value
  /** Gradients of the inputs, as traced operators, from the gradient of the result. `undefined`: no gradient. */
  gradient?(node: Tensor, upstream: Tensor, t: Operations): readonly (Tensor | undefined)[]
}

/** Values of the symbols in one run. */
export type Bindings = ReadonlyMap<string, number>

let counter = 0

/** Makes a node. Runs the shape rule of the operator, so errors appear at the line that combines the tensors. */
export function makeNode(op: Operator, inputs: readonly Tensor[], attributes: Attributes = {}): Tensor {
  const { shape, dtype } = op.infer(inputs, attributes)
  return { id: counter++, op, inputs, attributes, shape, dtype }
}

/** Nodes reachable from `outputs`, inputs before users. Iterative, because graphs may be thousands of nodes deep. */
export function topologicalOrder(outputs: readonly Tensor[]): Tensor[] {
  const order: Tensor[] = []
  const state = new Map<Tensor, boolean>()
  const stack = [...outputs].reverse()
  while (stack.length > 0) {
    const node = stack.at(-1)!
    if (state.get(node) === true) {
      stack.pop()
    } else if (state.get(node) === false) {
      state.set(node, true)
      order.push(node)
      stack.pop()
    } else {
      state.set(node, false)
      for (const input of node.inputs) if (!state.has(input)) stack.push(input)
    }
  }
  return order
}
