import { refuse } from '../refusal.ts'
import { bytesOf, copyAligned, numberOf, numbersOf, readMessage, textOf } from './read-message.ts'
import type { WireField } from './read-message.ts'

/** Reads a message into an object, field by field; fields of other numbers are left out, as protobuf wants it. */
function readInto<T>(
  field: WireField | Uint8Array,
  target: T,
  fields: Readonly<Record<number, (target: T, field: WireField) => void>>,
): T {
  for (const each of readMessage(field instanceof Uint8Array ? field : bytesOf(field)))
    fields[each.number]?.(target, each)
  return target
}

/** A `map<string, V>`: messages with the key as field 1 and the value as field 2. */
function readEntry<V>(field: WireField, value: (field: WireField) => V, otherwise: V): [string, V] {
  const entry = { key: '', value: otherwise }
  readInto(field, entry, {
    1: (target, each) => (target.key = textOf(each)),
    2: (target, each) => (target.value = value(each)),
  })
  return [entry.key, entry.value]
}

interface Tensor {
  data: Uint8Array
  dtype: number
  shape: number[]
  sparse: boolean
}

function readTensor(field: WireField): unknown {
  const tensor = readInto<Tensor>(
    field,
    { data: new Uint8Array(0), dtype: 0, shape: [], sparse: false },
    {
      1: (target, each) => (target.data = bytesOf(each)),
      2: (target) => (target.sparse = true),
      3: (target, each) => (target.dtype = numberOf(each)),
      4: (target, each) => target.shape.push(...numbersOf(each)),
    },
  )
  if (tensor.sparse)
    throw refuse('tinker-bad-request', 'Sparse tensors are not understood', { expected: 'dense ones' })
  return { data: valuesOf(tensor), shape: tensor.shape }
}

/** `DType`: 1 float32, 2 int64, 3 int32; 4 bfloat16 is for answers only. */
function valuesOf({ data, dtype }: Tensor): ArrayLike<number> {
  if (dtype === 1) return new Float32Array(copyAligned(data, 4))
  if (dtype === 2) return Float64Array.from(new BigInt64Array(copyAligned(data, 8)), Number)
  if (dtype === 3) return new Int32Array(copyAligned(data, 4))
  throw refuse('tinker-bad-request', 'A tensor has a type that is not understood', {
    given: dtype,
    expected: 'DTYPE_FLOAT32 (1), DTYPE_INT64 (2) or DTYPE_INT32 (3)',
  })
}

function readChunk(field: WireField): unknown {
  const chunk: Record<string, unknown> = {}
  readInto(field, chunk, {
    1: (target, text) =>
      readInto(text, target, {
        1: (_, tokens) => (target['tokens'] = new Int32Array(copyAligned(bytesOf(tokens), 4))),
      }),
    2: (target) => (target['type'] = 'image'),
    3: (target) => (target['type'] = 'dmel'),
  })
  return chunk
}

/**
 * `tinker_public.ForwardBackwardRequest` as the body of the same request in JSON would be, and whether only the forward
 * pass is wanted. Field numbers are those of the descriptor in the public SDK (thinking-machines-lab/tinker 0.25.0,
 * proto/tinker_public_pb2).
 */
export function readForwardBackwardRequest(bytes: Uint8Array): {
  body: Record<string, unknown>
  forwardOnly: boolean
} {
  const data: unknown[] = []
  const config: Record<string, number> = {}
  const input: Record<string, unknown> = { data, loss_fn: '', loss_fn_config: config }
  const body: Record<string, unknown> = { forward_backward_input: input }
  let forwardOnly = false
  readInto(bytes, body, {
    1: (target, field) => (target['model_id'] = textOf(field)),
    // 0 stands for none: numbers begin at 1.
    2: (target, field) => (target['seq_id'] = numberOf(field) || null),
    3: (_, field) => {
      const chunks: unknown[] = []
      const inputs: Record<string, unknown> = {}
      readInto(field, inputs, {
        1: (_target, chunk) => chunks.push(readChunk(chunk)),
        2: (target, entry) => {
          const [name, tensor] = readEntry(entry, readTensor, undefined)
          target[name] = tensor
        },
      })
      data.push({ model_input: { chunks }, loss_fn_inputs: inputs })
    },
    4: (_, field) => (input['loss_fn'] = textOf(field)),
    5: (_, field) => {
      const [name, value] = readEntry(field, numberOf, 0)
      config[name] = value
    },
    6: (_, field) => (forwardOnly = numberOf(field) !== 0),
  })
  return { body, forwardOnly }
}
