import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { ForwardBackwardOutput, SampleResponse } from '../../../backend/tinker/wire.ts'
import { refuse } from '../fields.ts'
import {
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
  SampleResponseSchema,
} from './tinker_pb.ts'
import type { Datum, ForwardBackwardRequest, ModelInputChunk, TensorData } from './tinker_pb.ts'

/**
 * Converts a `ForwardBackwardRequest` to the body of the same request in JSON, and whether only the forward pass is wanted.
 *
 * @throws AgogeError `tinker-bad-request` for an invalid message and for sparse tensors.
 */
export function readForwardBackwardRequest(bytes: Uint8Array): {
  body: Record<string, unknown>
  forwardOnly: boolean
} {
  const { modelId, seqId, data, lossFn, lossFnConfig, forwardOnly } = decode(bytes)
  return {
    body: {
      model_id: modelId,
      // 0 means none, since numbers start at 1.
      seq_id: Number(seqId) || null,
      forward_backward_input: { loss_fn: lossFn, loss_fn_config: lossFnConfig, data: data.map(readDatum) },
    },
    forwardOnly,
  }
}

function decode(bytes: Uint8Array): ForwardBackwardRequest {
  try {
    return fromBinary(ForwardBackwardRequestSchema, bytes, { readUnknownFields: false })
  } catch (error) {
    throw broken((error as Error).message)
  }
}

const readDatum = ({ modelInput, lossFnInputs }: Datum): unknown => ({
  model_input: { chunks: modelInput.map(readChunk) },
  loss_fn_inputs: Object.fromEntries(
    Object.entries(lossFnInputs).map(([name, tensor]) => [name, readTensor(tensor)]),
  ),
})

function readChunk({ chunk }: ModelInputChunk): unknown {
  if (chunk.case !== 'encodedText') return { type: chunk.case }
  return { tokens: new Int32Array(copyAligned(chunk.value.tokens, 4)) }
}

function readTensor({ values, dtype, shape }: TensorData): unknown {
  if (values.case === 'sparseCsr')
    throw refuse('tinker-bad-request', 'Sparse tensors are not understood', { expected: 'dense ones' })
  return { data: valuesOf(values.value ?? new Uint8Array(0), dtype), shape: shape.map(Number) }
}

function valuesOf(data: Uint8Array, dtype: number): ArrayLike<number> {
  if (dtype === 1) return new Float32Array(copyAligned(data, 4))
  if (dtype === 2) return Float64Array.from(new BigInt64Array(copyAligned(data, 8)), Number)
  if (dtype === 3) return new Int32Array(copyAligned(data, 4))
  throw refuse('tinker-bad-request', 'A tensor has a type that is not understood', {
    given: dtype,
    expected: 'DTYPE_FLOAT32 (1), DTYPE_INT64 (2) or DTYPE_INT32 (3)',
  })
}

/** Little-endian values of `size` bytes each, aligned or not. */
function copyAligned(bytes: Uint8Array, size: number): ArrayBuffer {
  if (bytes.length % size !== 0) throw broken(`${bytes.length} bytes do not make up values of ${size}`)
  // The slice of a Buffer would share its memory with others.
  return new Uint8Array(bytes).buffer
}

function broken(how: string): Error {
  return refuse('tinker-bad-request', `The body is no protobuf message of this protocol: ${how}`, {
    expected: 'a message of tinker_public, as the SDK 0.25.0 writes it, or JSON',
  })
}

/** Encodes a `SampleResponse`. Missing log-probabilities become NaN. */
export function writeSampleResponse({
  sequences,
  prompt_logprobs: prompt,
}: SampleResponse): Uint8Array<ArrayBuffer> {
  const message = create(SampleResponseSchema, {
    sequences: sequences.map(({ stop_reason: reason, tokens, logprobs }) => ({
      stopReason: reason === 'length' ? 1 : 0,
      tokens: asBytes(Int32Array.from(tokens)),
      ...(logprobs == null ? {} : { logprobs: asBytes(Float32Array.from(logprobs)) }),
    })),
    ...(prompt == null
      ? {}
      : { promptLogprobs: asBytes(Float32Array.from(prompt, (value) => value ?? Number.NaN)) }),
  })
  return toBinary(SampleResponseSchema, message)
}

/** Encodes a `ForwardBackwardOutput`, whose outputs are float32 with one value per token. */
export function writeForwardBackwardOutput(output: ForwardBackwardOutput): Uint8Array<ArrayBuffer> {
  const { loss_fn_outputs: outputs, loss_fn_output_type: lossFnOutputType, metrics } = output
  const names = [...new Set(outputs.flatMap((datum) => Object.keys(datum)))]
  const message = create(ForwardBackwardOutputSchema, {
    lossFnOutputType,
    metrics,
    ...(outputs.length === 0
      ? {}
      : {
          lossFnOutputs: {
            count: BigInt(outputs.length),
            fields: Object.fromEntries(
              names.map((name) => [name, batchedTensor(outputs.map((datum) => datum[name]?.data ?? []))]),
            ),
          },
        }),
  })
  return toBinary(ForwardBackwardOutputSchema, message)
}

/** The values of one field for all datums, with the byte offset of each and the end. */
function batchedTensor(values: readonly ArrayLike<number>[]) {
  const data = new Float32Array(values.reduce((sum, each) => sum + each.length, 0))
  const offsets = new BigInt64Array(values.length + 1)
  let at = 0
  for (const [i, each] of values.entries()) {
    data.set(each, at)
    at += each.length
    offsets[i + 1] = BigInt(4 * at)
  }
  return { data: asBytes(data), offsets: asBytes(offsets), dtype: 1 }
}

/** The bytes of the values. All supported machines are little-endian. */
const asBytes = ({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
