import type { Dim, HostData, Shape } from '../types.ts'
import type { OnnxAttribute } from './lower-context.ts'
import { protobufWriter } from './protobuf.ts'
import type { ProtobufWriter } from './protobuf.ts'

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

export interface OnnxGraph {
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
