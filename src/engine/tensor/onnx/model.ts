import type { Dim, DType, HostData, Shape } from '../node.ts'
import type { Device } from './session.ts'

const utf8 = new TextEncoder()

/** The wire format of protocol buffers, limited to what ONNX models need. */
interface ProtobufWriter {
  int(field: number, value: number): void
  float(field: number, value: number): void
  bytes(field: number, value: Uint8Array): void
  text(field: number, value: string): void
  message(field: number, write: (writer: ProtobufWriter) => void): void
  finish(): Uint8Array
}

function protobufWriter(): ProtobufWriter {
  const chunks: Uint8Array[] = []
  const push = (...bytes: number[]) => chunks.push(Uint8Array.from(bytes))

  function varint(value: number): void {
    // Negative integers are encoded as 64-bit two's complement.
    let rest = BigInt.asUintN(64, BigInt(value))
    const bytes: number[] = []
    while (rest > 127n) {
      bytes.push(Number(rest & 127n) | 128)
      rest >>= 7n
    }
    bytes.push(Number(rest))
    push(...bytes)
  }

  const writer: ProtobufWriter = {
    int(field, value) {
      varint(field << 3)
      varint(value)
    },
    float(field, value) {
      varint((field << 3) | 5)
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setFloat32(0, value, true)
      chunks.push(bytes)
    },
    bytes(field, value) {
      varint((field << 3) | 2)
      varint(value.byteLength)
      chunks.push(value)
    },
    text(field, value) {
      writer.bytes(field, utf8.encode(value))
    },
    message(field, write) {
      const inner = protobufWriter()
      write(inner)
      writer.bytes(field, inner.finish())
    },
    finish() {
      const result = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.byteLength, 0))
      let at = 0
      for (const chunk of chunks) {
        result.set(chunk, at)
        at += chunk.byteLength
      }
      return result
    },
  }
  return writer
}

export interface OnnxNode {
  type: string
  inputs: readonly string[]
  outputs: readonly string[]
  attributes: Readonly<Record<string, OnnxAttribute>>
  domain: string
}

export interface OnnxInitializer {
  name: string
  type: number
  shape: readonly number[]
  data: HostData | BigInt64Array
}

export interface OnnxValue {
  name: string
  type: number
  shape: Shape
}

interface OnnxGraph {
  name: string
  nodes: readonly OnnxNode[]
  initializers: readonly OnnxInitializer[]
  inputs: readonly OnnxValue[]
  outputs: readonly OnnxValue[]
}

const irVersion = 10
const operatorSet = 21

/** Field numbers are those of onnx.proto. */
export function encodeModel(graph: OnnxGraph): Uint8Array {
  const model = protobufWriter()
  model.int(1, irVersion)
  model.text(2, 'agoge')
  model.message(7, (writer) => writeGraph(writer, graph))
  for (const [domain, version] of [
    ['', operatorSet],
    ['com.microsoft', 1],
  ] as const)
    model.message(8, (writer) => {
      writer.text(1, domain)
      writer.int(2, version)
    })
  return model.finish()
}

function writeGraph(writer: ProtobufWriter, graph: OnnxGraph): void {
  for (const node of graph.nodes) writer.message(1, (inner) => writeNode(inner, node))
  writer.text(2, graph.name)
  for (const { name, type, shape, data } of graph.initializers)
    writer.message(5, (inner) => {
      for (const dim of shape) inner.int(1, dim)
      inner.int(2, type)
      inner.text(8, name)
      inner.bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    })
  for (const value of graph.inputs) writer.message(11, (inner) => writeValue(inner, value))
  for (const value of graph.outputs) writer.message(12, (inner) => writeValue(inner, value))
}

function writeNode(writer: ProtobufWriter, node: OnnxNode): void {
  for (const input of node.inputs) writer.text(1, input)
  for (const output of node.outputs) writer.text(2, output)
  writer.text(3, node.outputs[0])
  writer.text(4, node.type)
  for (const [name, attribute] of Object.entries(node.attributes))
    writer.message(5, (inner) => writeAttribute(inner, name, attribute))
  if (node.domain !== '') writer.text(7, node.domain)
}

function writeAttribute(writer: ProtobufWriter, name: string, attribute: OnnxAttribute): void {
  writer.text(1, name)
  if ('float' in attribute) {
    writer.float(2, attribute.float)
    writer.int(20, 1)
  } else if ('int' in attribute) {
    writer.int(3, attribute.int)
    writer.int(20, 2)
  } else if ('string' in attribute) {
    writer.text(4, attribute.string)
    writer.int(20, 3)
  } else {
    for (const value of attribute.ints) writer.int(8, value)
    writer.int(20, 7)
  }
}

function writeValue(writer: ProtobufWriter, value: OnnxValue): void {
  writer.text(1, value.name)
  writer.message(2, (type) =>
    type.message(1, (tensor) => {
      tensor.int(1, value.type)
      tensor.message(2, (shape) => {
        for (const dim of value.shape) shape.message(1, (inner) => writeDim(inner, dim))
      })
    }),
  )
}

function writeDim(writer: ProtobufWriter, dim: Dim): void {
  if (typeof dim === 'number') writer.int(1, dim)
  else writer.text(2, dim)
}

export type OnnxAttribute =
  | { int: number }
  | { float: number }
  | { ints: readonly number[] }
  | { string: string }

/** The operations for lowering an operator. Values are referred to by name. */
export interface LowerContext {
  /** The device of the program. */
  readonly device: Device
  /** Adds a node with one output and returns the name of the output. */
  emit(
    type: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, OnnxAttribute>>,
    domain?: 'com.microsoft',
  ): string
  /** Adds a node with several outputs. A repeated call with the same arguments returns the outputs of the existing node. */
  emitAll(count: number, ...what: Parameters<LowerContext['emit']>): readonly string[]
  /** A constant tensor. */
  initializer(data: HostData, shape: readonly number[], dtype: DType): string
  /** A constant of 64-bit integers of shape [values.length], or a scalar. */
  int64(values: readonly number[], scalar?: boolean): string
  /** A concrete shape at run time: int64 [shape.length]. */
  shapeTensor(shape: Shape): string
  /** A size at run time, as an int64 scalar. */
  size(dim: Dim): string
}
