// Messages of protobuf, made field by field, so that most can be read.
import { readFileSync } from 'node:fs'
import type { Random } from '../../../src/engine/random/index.ts'
import { edgeNumbers } from '../edge-values.ts'
import { makeBytes } from '../mutate-bytes.ts'

const golden = JSON.parse(
  readFileSync(new URL('../../../src/llm/serving/tinker/golden/protobuf.json', import.meta.url), 'utf8'),
) as Record<string, string>
const messages = Object.values(golden).map((each) => new Uint8Array(Buffer.from(each, 'base64')))

/** A `ForwardBackwardRequest` with some fields that do not fit; some are mutated bytes of whole messages. */
export function makeMessage(random: Random): Uint8Array {
  if (random.next() < 0.2) return makeBytes(random, messages)
  const losses = ['ppo', 'cispo', 'importance_sampling', 'cross_entropy', 'dro', '', 'x']
  const message = Buffer.concat([
    field(1, Buffer.from('model')),
    varint(2, random.pick([1, 300, 0])),
    ...Array.from({ length: random.pick([1, 1, 2, 0]) }, () => field(3, makeDatum(random))),
    field(4, Buffer.from(random.pick(losses))),
    ...(random.next() < 0.5 ? [field(5, setting(random))] : []),
    varint(6, random.int(2)),
  ])
  return random.next() < 0.3 ? makeBytes(random, [message, ...messages]) : message
}

/** A number of the loss by its name. */
const setting = (random: Random): Buffer =>
  Buffer.concat([
    field(1, Buffer.from(random.pick(['clip_low_threshold', 'clip_high_threshold', 'beta', '__proto__']))),
    double(2, random.pick(edgeNumbers)),
  ])

/** Some tokens, and values for each of them. */
function makeDatum(random: Random): Buffer {
  const length = 1 + random.int(4)
  const tokens = Int32Array.from({ length: length + 1 }, () => random.pick([1, 2, 70_000, -1]))
  const inputs: [string, Buffer][] = [
    ['target_tokens', tensor(random, BigInt64Array.from(tokens.subarray(1), BigInt), 2)],
    ...['logprobs', 'advantages', 'weights', 'ce_weights', 'temperatures', 'strange']
      .filter((_, at) => random.next() < (at < 2 ? 0.9 : 0.2))
      .map((name): [string, Buffer] => {
        const count = random.next() < 0.95 ? length : random.int(9)
        return [
          name,
          tensor(
            random,
            Float32Array.from({ length: count }, () => random.pick(edgeNumbers)),
            1,
          ),
        ]
      }),
  ]
  return Buffer.concat([
    field(1, field(random.next() < 0.97 ? 1 : 2, field(1, bytesOf(tokens.subarray(0, length))))),
    ...inputs.map(([name, value]) => field(2, Buffer.concat([field(1, Buffer.from(name)), field(2, value)]))),
  ])
}

function tensor(random: Random, values: BigInt64Array | Float32Array, type: number): Buffer {
  const bytes = bytesOf(values)
  return Buffer.concat([
    field(random.next() < 0.98 ? 1 : 2, random.next() < 0.97 ? bytes : bytes.subarray(1)),
    varint(3, random.next() < 0.97 ? type : random.int(6)),
    varint(4, values.length),
  ])
}

const bytesOf = ({ buffer, byteOffset, byteLength }: BigInt64Array | Float32Array | Int32Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

const field = (number: number, content: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2]), lengthOf(content.length), content])
const varint = (number: number, value: number): Buffer =>
  Buffer.concat([Buffer.from([number << 3]), lengthOf(value)])

function double(number: number, value: number): Buffer {
  const bytes = Buffer.alloc(9, (number << 3) | 1)
  bytes.writeDoubleLE(value, 1)
  return bytes
}

/** A number in seven bits a byte. */
function lengthOf(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left & 127) | 128)
  return Buffer.from([...bytes, left])
}
