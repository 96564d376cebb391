import type { LowerContext } from './onnx/model.ts'
import type { Operations } from './operations.ts'

/** Element types. Booleans are bytes (0 or 1) on the host; of `int8` are codes of quantised weights. */
export type DType = 'float32' | 'int32' | 'int8' | 'bool'

/** A number, or a sum of products of symbols and numbers: `'B'`, `'B*T'`, `'128*B'`, `'P+T'`. */
export type Dim = number | string

export type Shape = readonly Dim[]

export type HostData = Float32Array | Int32Array | Int8Array | Uint8Array

/** A concrete array, row-major. `dtype` is read off the array's class when left out (bytes are booleans). */
export interface HostTensor {
  data: HostData
  shape: readonly number[]
  dtype?: DType
}

export type Feeds = Readonly<Record<string, HostTensor>>

type Attribute = number | string | boolean | readonly Dim[] | HostData | undefined
export type Attributes = Readonly<Record<string, Attribute>>

/** An immutable node of a traced graph: what operator made it from what, and what comes out. */
export interface Tensor {
  readonly id: number
  readonly op: Operator
  readonly inputs: readonly Tensor[]
  readonly attributes: Attributes
  readonly shape: Shape
  readonly dtype: DType
}

/** Anything an operator takes: a number is lifted to a constant of the other operand's type. */
export type Operand = Tensor | number

/** Values during the reference evaluation: floats are held in double precision. */
export interface Value {
  data: Float64Array | Int32Array | Int8Array | Uint8Array
  shape: readonly number[]
}

interface Signature {
  shape: Shape
  dtype: DType
}

/** All that the engine knows of one operator. */
export interface Operator {
  readonly name: string
  /** Shape rule. Throws AgogeError for inputs that do not fit. */
  infer(inputs: readonly Tensor[], attributes: Attributes): Signature
  /** Emits ONNX nodes and returns the name of the result. */
  lower(context: LowerContext, node: Tensor, inputs: readonly string[]): string
  /** Plain evaluation; `shape` is the result's concrete shape. */
  evaluate(node: Tensor, inputs: readonly Value[], shape: readonly number[], bindings: Bindings): Value
  /** Gradients by input in traced operators, given the gradient of the result. `undefined`: none flows. */
  gradient?(node: Tensor, upstream: Tensor, t: Operations): readonly (Tensor | undefined)[]
}

/** Values of the symbols of one run. */
export type Bindings = ReadonlyMap<string, number>

let counter = 0

/** Makes a node: the operator's shape rule runs here, so mistakes show where they are written. */
export function makeNode(op: Operator, inputs: readonly Tensor[], attributes: Attributes = {}): Tensor {
  const { shape, dtype } = op.infer(inputs, attributes)
  return { id: counter++, op, inputs, attributes, shape, dtype }
}

/** Nodes reachable from `outputs`, inputs before users. Iterative: graphs may be thousands of nodes deep. */
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
