// Tinker's messages, read and written by `@bufbuild/protobuf` (ours) and by `protobufjs` with the same schema.
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { fileURLToPath } from 'node:url'
import {
  ForwardBackwardOutputSchema,
  ForwardBackwardRequestSchema,
} from '../../src/llm/serving/tinker/protobuf/tinker_pb.ts'
import { alternate, loadLibrary, numbersOf, printLoading } from './measure.ts'

const schema = fileURLToPath(new URL('../../src/llm/serving/tinker/protobuf/tinker.proto', import.meta.url))

interface Codec {
  decode: (bytes: Uint8Array) => unknown
  encode: (message: unknown) => { finish: () => Uint8Array }
  create: (fields: object) => unknown
}
interface Protobufjs {
  default: { load: (path: string) => Promise<{ lookupType: (name: string) => Codec }> }
}

/** A request of `rows` datums with `tokens` tokens each: the tokens, the target tokens and two rows of float32. */
function makeRequest(rows: number, tokens: number): Uint8Array {
  const bytes = (size: number) => new Uint8Array(size * tokens).fill(7)
  const tensor = (dtype: number) => ({
    values: { case: 'dense' as const, value: bytes(dtype === 2 ? 8 : 4) },
    dtype,
    shape: [BigInt(tokens)],
  })
  const data = Array.from({ length: rows }, () => ({
    modelInput: [{ chunk: { case: 'encodedText' as const, value: { tokens: bytes(4) } } }],
    lossFnInputs: { target_tokens: tensor(2), logprobs: tensor(1), advantages: tensor(1) },
  }))
  const message = create(ForwardBackwardRequestSchema, {
    modelId: 'model-1',
    seqId: 3n,
    data,
    lossFn: 'ppo',
    lossFnConfig: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 },
  })
  return toBinary(ForwardBackwardRequestSchema, message)
}

/** The fields of an answer of 64 rows, as both libraries take them, but for 64-bit integers. */
const output = <Integer>(count: Integer) => ({
  lossFnOutputType: 'ArrayRecord',
  metrics: { 'loss:sum': -12.0625 },
  lossFnOutputs: {
    count,
    fields: { logprobs: { data: new Uint8Array(4 * 64_000), offsets: new Uint8Array(8 * 65), dtype: 1 } },
  },
})

function reads(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

/** Prints processor times, and how many damaged messages each refuses. */
export async function compare(): Promise<void> {
  const root = await (await loadLibrary<Protobufjs>('protobufjs')).default.load(schema)
  const request = root.lookupType('tinker_public.ForwardBackwardRequest')
  const answer = root.lookupType('tinker_public.ForwardBackwardOutput')
  const read = (bytes: Uint8Array) =>
    fromBinary(ForwardBackwardRequestSchema, bytes, { readUnknownFields: false })
  const times = (count: number, work: () => unknown) => () => {
    for (let i = 0; i < count; i++) work()
  }

  for (const [rows, tokens, count] of [
    [64, 1_000, 100],
    [200, 8, 100],
  ]) {
    const bytes = makeRequest(rows, tokens)
    await alternate(`${count} x reading ${rows} rows of ${tokens} tokens`, {
      ours: times(count, () => read(bytes)),
      peer: times(count, () => request.decode(bytes)),
      peerName: 'protobufjs',
    })
  }
  await alternate('100 x writing 64 rows of 1,000 tokens', {
    ours: times(100, () =>
      toBinary(ForwardBackwardOutputSchema, create(ForwardBackwardOutputSchema, output(64n))),
    ),
    peer: times(100, () => answer.encode(answer.create(output(64))).finish()),
    peerName: 'protobufjs',
  })

  const whole = makeRequest(3, 8)
  const random = numbersOf(1)
  const cut = Array.from({ length: whole.length - 1 }, (_, i) => whole.subarray(0, i + 1))
  const changed = Array.from({ length: 20_000 }, () => {
    const bytes = whole.slice()
    for (let i = 0; i < 1 + random() * 3; i++)
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
    return bytes
  })
  for (const [name, messages] of Object.entries({ 'cut short': cut, 'with changed bytes': changed })) {
    const both = messages.map((bytes) => [reads(() => read(bytes)), reads(() => request.decode(bytes))])
    const refused = (one: boolean, other: boolean): number =>
      both.filter(([ours, peer]) => ours === one && peer === other).length
    console.log(
      `${messages.length} messages ${name}: both refuse ${refused(false, false)}, ours alone ${refused(false, true)}, protobufjs alone ${refused(true, false)}`,
    )
  }
  printLoading('@bufbuild/protobuf', true)
  printLoading('protobufjs', false)
}
