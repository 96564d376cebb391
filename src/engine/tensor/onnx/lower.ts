import { AgogeError } from '../../../error.ts'
import type { InputSpec } from '../compile.ts'
import { type Dim, type DType, type HostData, type Shape, type Tensor, topologicalOrder } from '../node.ts'
import { input, inputOperator } from '../operators/constant.ts'
import { onnxTypes } from '../operators/elementwise.ts'
import { dimTerms, symbolsOf } from '../shape.ts'
import { simplify } from '../simplify.ts'
import {
  encodeModel,
  type LowerContext,
  type OnnxAttribute,
  type OnnxInitializer,
  type OnnxNode,
  type OnnxValue,
} from './model.ts'
import type { Device } from './session.ts'

const int64Type = 7
/** Constants of up to this many bytes are compared, so that equal ones are stored once. */
const smallConstant = 4096

interface LoweringState {
  nodes: OnnxNode[]
  initializers: OnnxInitializer[]
  /** Where to read the value of a symbol: an input and an axis of exactly this size. */
  sources: Map<string, { name: string; axis: number }>
  /** Results by their operator and inputs, so that shape arithmetic is not repeated. */
  known: Map<string, readonly string[]>
}

/** Lowers a graph to a serialised ONNX model. Default names of the outputs: `out:` plus the key of the record. */
export function lowerToOnnx(
  name: string,
  inputs: Readonly<Record<string, Tensor>>,
  outputs: Readonly<Record<string, Tensor>>,
  device: Device,
  prefix = 'out:',
): Uint8Array {
  const state: LoweringState = { nodes: [], initializers: [], sources: new Map(), known: new Map() }
  for (const [input, { shape }] of Object.entries(inputs))
    shape.forEach((dim, axis) => {
      if (typeof dim === 'string' && symbolsOf(dim)[0] === dim && !state.sources.has(dim))
        state.sources.set(dim, { name: input, axis })
    })
  const context = lowerContext(state, device)
  const names = new Map<Tensor, string>()
  for (const node of topologicalOrder(Object.values(outputs))) {
    const own = node.inputs.map((input) => names.get(input)!)
    names.set(
      node,
      node.op === inputOperator ? (node.attributes.name as string) : node.op.lower(context, node, own),
    )
  }
  // An extra node for each output. Without it, the runtime's optimiser breaks some graphs (transposed
  // convolutions with their second gradients).
  for (const [output, node] of Object.entries(outputs))
    state.nodes.push({
      type: 'Identity',
      inputs: [names.get(node)!],
      outputs: [`${prefix}${output}`],
      attributes: {},
      domain: '',
    })
  const value =
    (before: string, symbolic: boolean) =>
    ([own, node]: [string, Tensor]): OnnxValue => ({
      name: before + own,
      type: onnxTypes[node.dtype],
      shape: symbolic
        ? node.shape
        : node.shape.map((dim, axis) => (typeof dim === 'number' ? dim : `${own}_${axis}`)),
    })
  return encodeModel({
    name,
    nodes: state.nodes,
    initializers: state.initializers,
    inputs: Object.entries(inputs).map(value('', true)),
    outputs: Object.entries(outputs).map(value(prefix, true)),
  })
}

function lowerContext(state: LoweringState, device: Device): LowerContext {
  const { nodes, initializers, known } = state

  function emitAll(
    count: number,
    type: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    domain = '',
  ): readonly string[] {
    const key = JSON.stringify([count, type, inputs, attributes])
    const existing = known.get(key)
    if (existing !== undefined) return existing
    const outputs = Array.from({ length: count }, (_, i) =>
      i === 0 ? `n${nodes.length}` : `n${nodes.length}_${i}`,
    )
    nodes.push({ type, inputs, outputs, attributes, domain })
    known.set(key, outputs)
    return outputs
  }

  const emit: LowerContext['emit'] = (...what) => emitAll(1, ...what)[0]

  function initializer(data: HostData | BigInt64Array, shape: readonly number[], type: number): string {
    const add = (): string => {
      const name = `c${initializers.length}`
      initializers.push({ name, type, shape, data })
      return name
    }
    if (data.byteLength > smallConstant) return add()
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    const key = `${type} [${shape.join(' ')}] ${bytes.join(' ')}`
    const [name] = known.get(key) ?? [add()]
    known.set(key, [name])
    return name
  }

  const int64 = (values: readonly number[], scalar = false): string =>
    initializer(BigInt64Array.from(values, BigInt), scalar ? [] : [values.length], int64Type)

  function symbol(name: string): string {
    const source = state.sources.get(name)
    if (source === undefined)
      throw new AgogeError(`the size ${name} is not known from any input`, {
        code: 'unknown-size',
        given: name,
        expected: `an input with a dimension that is exactly '${name}'`,
      })
    return emit('Shape', [source.name], { start: { int: source.axis }, end: { int: source.axis + 1 } })
  }

  function dimension(dim: Dim): string {
    if (typeof dim === 'number') return int64([dim])
    const terms = dimTerms(dim).map(({ coefficient, symbols }) => {
      const factors = symbols.map(symbol)
      if (coefficient !== 1 || factors.length === 0) factors.push(int64([coefficient]))
      return factors.reduce((a, b) => emit('Mul', [a, b]))
    })
    return terms.reduce((a, b) => emit('Add', [a, b]))
  }

  return {
    device,
    emit,
    emitAll,
    initializer: (data, shape, dtype: DType) => initializer(data, shape, onnxTypes[dtype]),
    int64,
    shapeTensor(shape: Shape) {
      if (shape.every((dim) => typeof dim === 'number')) return int64(shape)
      return emit('Concat', shape.map(dimension), { axis: { int: 0 } })
    },
    size: (dim) => (typeof dim === 'number' ? int64([dim], true) : emit('Squeeze', [dimension(dim)])),
  }
}

/**
 * A traced function as an ONNX model (operator set 21) for ONNX Runtime on any platform. The function may only
 * use its inputs and constants. Inputs and outputs have the names of the records; symbols in shapes become
 * dynamic dimensions.
 */
export function toOnnx(
  name: string,
  inputs: Readonly<Record<string, InputSpec>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
): Uint8Array {
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([key, { shape, dtype }]) => [key, input(key, shape, dtype)]),
  )
  const built = build(traced)
  const names = Object.keys(built)
  const outputs = simplify(Object.values(built))
  return lowerToOnnx(name, traced, Object.fromEntries(names.map((key, i) => [key, outputs[i]])), 'cpu', '')
}
