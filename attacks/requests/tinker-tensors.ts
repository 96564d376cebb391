// Tensors that do not fit, as JSON and as protobuf.
import { create, toBinary } from '@bufbuild/protobuf'
import { ForwardBackwardRequestSchema } from '../../src/llm/serving/tinker/protobuf/tinker_pb.ts'
import { either, type Expected, legal, refused } from './judge.ts'
import { type Attempt, type Kind, type KindContext, listOf, post } from './kinds.ts'
import { datum } from './targets.ts'
import { api, placeOf } from './tinker-fields.ts'

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
type Inputs = Readonly<Record<string, unknown>>

/** Wrong shapes, types and values in the inputs of a loss. */
export const tensors: Kind = listOf('tensors that do not fit', (context) => {
  const tokens = [9, 10, 11, 12]
  const zeros = [0, 0, 0]
  const training = (what: string, expected: Expected, input: unknown): Attempt => ({
    what,
    expected,
    asked: post(api('forward_backward'), {
      model_id: placeOf(context).abused,
      forward_backward_input: input,
    }),
  })
  const one = (
    what: string,
    expected: Expected,
    inputs: Inputs,
    loss_fn = 'cross_entropy',
    more: Inputs = {},
  ): Attempt => training(what, expected, { data: [datum(tokens, inputs)], loss_fn, ...more })
  const weights = (what: string, value: unknown, expected: Expected = refused(/weights|data/)): Attempt =>
    one(`weights: ${what}`, expected, { weights: value })
  const reading = (what: string, expected: Expected, chunks: unknown): Attempt =>
    training(what, expected, {
      data: [{ model_input: { chunks }, loss_fn_inputs: { target_tokens: { data: [1] } } }],
      loss_fn: 'cross_entropy',
    })
  const ppo = { logprobs: { data: zeros }, advantages: { data: [1, 1, 1] } }
  const config = (
    what: string,
    loss_fn_config: unknown,
    expected = refused(/setting|field|threshold|loss_fn_config/),
  ): Attempt => one(`settings: ${what}`, expected, ppo, 'ppo', { loss_fn_config })
  const parts = [
    [0.1],
    [1, 1, 1, 1],
    [],
    [null, 1, 1],
    ['1', '1', '1'],
    [[1], [1], [1]],
    [true, true, true],
    [{}, 1, 1],
  ]
  return [
    ...parts.map((data) => weights(JSON.stringify(data), { data })),
    ...parts.map((data) => weights(`${JSON.stringify(data)} without a shape`, data)),
    ...[[1], [4], [3, 1], [1, 3], [0], [-3], [3.5], [1e9, 1e9], ['3'], [[3]]].map((shape) =>
      weights(`shape ${JSON.stringify(shape)}`, { data: zeros, shape }),
    ),
    weights('sparse', { data: zeros, sparse_crow_indices: [0, 1] }),
    weights('10^308', { data: [1e308, 1e308, 1e308] }, either()),
    weights('-10^38', { data: [-1e38, 1e38, 3e38] }, either()),
    weights('5e-324', { data: [5e-324, 0, -5e-324] }, legal()),
    ...['mask', '__proto__', 'constructor', 'toString', 'target', 'Weights'].map((name) =>
      one(`an input ${name}`, refused(/no use|field/), JSON.parse(`{"${name}":{"data":[1,1,1]}}`) as Inputs),
    ),
    one('targets that do not follow', refused(/target_tokens/), { target_tokens: { data: [1, 2, 3] } }),
    one('targets of fractions', refused(/target_tokens/), { target_tokens: { data: [10.5, 11, 12] } }),
    one('targets beyond 32 bits', refused(/target_tokens/), {
      target_tokens: { data: [10, 11, 2 ** 32 + 12] },
    }),
    one('no targets', refused(/target_tokens/), { target_tokens: null }),
    ...[[-1], [2 ** 31], [2 ** 32 + 5], [0.5], ['9'], [null], [1e300]].map((odd) =>
      reading(`tokens ${JSON.stringify(odd)}`, refused(/token/), [{ tokens: odd }]),
    ),
    ...[1024, 2 ** 31 - 1].map((id) =>
      training(`token ${id}`, either(/token/), { data: [datum([9, id, 10])], loss_fn: 'cross_entropy' }),
    ),
    reading('an image', refused(/text/), [{ type: 'image', data: 'x' }]),
    reading('an address of an image', refused(/text/), [
      { type: 'image_asset_pointer', location: 'http://169.254.169.254' },
    ]),
    reading('no chunks', refused(/token/), []),
    training('longer than the window', either(/window|token/), {
      data: [datum(times(3000, () => 9))],
      loss_fn: 'cross_entropy',
    }),
    training('no data', refused(/data/), { data: [], loss_fn: 'cross_entropy' }),
    ...['secret', 'toString', '__proto__', 'constructor', 'gspo', 'PPO', 'x'.repeat(100_000)].map((loss) =>
      one(`loss ${loss.slice(0, 20)}`, refused(/loss/), {}, loss),
    ),
    ...['ppo', 'importance_sampling', 'cispo'].map((loss) =>
      one(`${loss} without log-probabilities`, refused(/logprobs/), {}, loss),
    ),
    one('log-probabilities above 0', either(), { ...ppo, logprobs: { data: [5, 100, 1000] } }, 'ppo'),
    one(
      'log-probabilities of -10^30',
      either(),
      { ...ppo, logprobs: { data: [-1e30, -1e30, -1e30] } },
      'ppo',
    ),
    one('advantages of 10^30', either(), { ...ppo, advantages: { data: [1e30, -1e30, 1e30] } }, 'ppo'),
    one('dro without beta', refused(/beta/), ppo, 'dro'),
    one('dro with beta 10^300', either(), ppo, 'dro', { loss_fn_config: { beta: 1e300 } }),
    config('the wrong way round', { clip_low_threshold: 2, clip_high_threshold: 1 }),
    config('below 0', { clip_low_threshold: -5, clip_high_threshold: -1 }),
    config('a text', { clip_low_threshold: '0.8' }),
    config('unknown', { beta: 1 }),
    ...['toString', 'constructor', 'hasOwnProperty', 'valueOf'].map((name) => config(name, { [name]: 1 })),
    config('__proto__', JSON.parse('{"__proto__":1}')),
    config('a list', []),
  ]
})

/** The bytes of a request of one sequence, as the SDK writes it, with values of one's own. */
function message(
  context: KindContext,
  { weights = new Float32Array([1, 1, 1]), dtype = 1, shape = [3n], lossFn = 'cross_entropy' } = {},
): Buffer {
  const bytes = ({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): Uint8Array =>
    new Uint8Array(buffer, byteOffset, byteLength)
  const tensor = (data: NodeJS.TypedArray, kind: number, sizes = [3n]) => ({
    values: { case: 'dense' as const, value: bytes(data) },
    dtype: kind,
    shape: sizes,
  })
  const request = create(ForwardBackwardRequestSchema, {
    modelId: placeOf(context).abused,
    lossFn,
    data: [
      {
        modelInput: [{ chunk: { case: 'encodedText', value: { tokens: bytes(Int32Array.of(9, 10, 11)) } } }],
        lossFnInputs: {
          target_tokens: tensor(BigInt64Array.of(10n, 11n, 12n), 2),
          weights: tensor(weights, dtype, shape),
        },
      },
    ],
  })
  return Buffer.from(toBinary(ForwardBackwardRequestSchema, request))
}

/** Messages that are cut, changed, or no protobuf at all. */
export const protobuf: Kind = listOf('protobuf', (context) => {
  const { random } = context
  const whole = message(context)
  const sent = (
    what: string,
    expected: Expected,
    body: Buffer,
    type = 'application/x-protobuf',
    call = 'forward_backward',
  ): Attempt => ({
    what,
    expected,
    asked: { ...post(api(call), body), headers: { 'content-type': type } },
  })
  const any: Expected = { status: [200, 400, 404] }
  const wrong = refused(/protobuf|tensor|weights|data|field|value|token/i, 400, 404)
  const flipped = (): Buffer => {
    const copy = Buffer.from(whole)
    for (let i = 0; i <= random.int(3); i++) copy[random.int(copy.length)] ^= 1 << random.int(8)
    return copy
  }
  const noise: [string, Buffer][] = [
    ['0xff', Buffer.alloc(20, 0xff)],
    ['NUL', Buffer.alloc(100)],
    ['open groups', Buffer.alloc(1_000_000, 0x7b)],
    ['closed groups', Buffer.alloc(1000, 0x7c)],
    ['lengths of 2^63', Buffer.from('0affffffffffffffff7f', 'hex')],
    ['a number of 11 bytes', Buffer.from('30ffffffffffffffffffffff01', 'hex')],
    ['field 0', Buffer.from('0000', 'hex')],
    ['a wrong wire type', Buffer.from('0d00000000', 'hex')],
    ['wire type 7', Buffer.from('0f', 'hex')],
    ['nested messages', nestedMessages(200)],
    ['JSON', Buffer.from('{"model_id":"x"}')],
    ['random bytes', Buffer.from(times(1000, () => random.int(256)))],
  ]
  return [
    sent('as the SDK sends it', legal(), whole),
    ...times(25, (i) =>
      sent(
        `cut after ${Math.floor((i * whole.length) / 25)} bytes`,
        any,
        whole.subarray(0, Math.floor((i * whole.length) / 25)),
      ),
    ),
    ...times(60, (i) => sent(`changed bits (${i})`, any, flipped())),
    ...noise.map(([what, bytes]) => sent(what, refused(/protobuf|model/, 400, 404), bytes)),
    sent('a message 20 times', any, Buffer.concat(times(20, () => whole))),
    sent('NaN', either(), message(context, { weights: Float32Array.of(Number.NaN, 1, 1) })),
    sent('Infinity', either(), message(context, { weights: Float32Array.of(Infinity, -Infinity, 1) })),
    ...[0, 4, 9, 2 ** 31 - 1].map((dtype) => sent(`type ${dtype}`, wrong, message(context, { dtype }))),
    sent('type 2 of 12 bytes', wrong, message(context, { dtype: 2 })),
    ...[[2n], [3n, 3n], [-3n], [2n ** 62n]].map((shape) =>
      sent(`shape ${shape.join('x')}`, wrong, message(context, { shape })),
    ),
    sent(
      'another number of values',
      wrong,
      message(context, { weights: new Float32Array(100), shape: [100n] }),
    ),
    sent('an unknown loss', refused(/loss/), message(context, { lossFn: '__proto__' })),
    sent('as JSON', refused(/JSON/), whole, 'application/json'),
    sent('to another call', refused(/type/, 415), whole, 'application/x-protobuf', 'optim_step'),
    sent('compressed', refused(/type/, 415), whole, 'application/x-protobuf+gzip'),
  ]
})

/** Messages within messages, by the field of the data. */
function nestedMessages(depth: number): Buffer {
  let bytes = Buffer.alloc(0)
  for (let i = 0; i < depth; i++) {
    const size: number[] = []
    for (let left = bytes.length; ; left >>>= 7) {
      size.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0))
      if (left <= 0x7f) break
    }
    bytes = Buffer.concat([Buffer.from([0x1a, ...size]), bytes])
  }
  return bytes
}
