// More than the Tinker server has room or time for.
import { either, legal, parsed, recordOf, refused } from './judge.ts'
import {
  askAs,
  type Attempt,
  type Kind,
  type KindContext,
  judged,
  listOf,
  post,
  type Tried,
} from './kinds.ts'
import { datum } from './targets.ts'
import { api, calling, placeOf } from './tinker-fields.ts'

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** More than a server has room or time for. */
export const tooMuch: Kind = listOf('more than a server has room for', (context) => {
  const { abused, session } = placeOf(context)
  const prompt = { chunks: [{ tokens: [9, 10, 11] }] }
  const sampling = (params: unknown, more: Readonly<Record<string, unknown>> = {}): unknown => ({
    base_model: 'served',
    prompt,
    sampling_params: { max_tokens: 2, ...recordOf(params) },
    ...more,
  })
  const rank = (value: number, i: number): Attempt =>
    calling(`an adapter of rank ${value}`, either(/rank/), 'create_model', {
      session_id: session,
      model_seq_id: 100 + i,
      base_model: 'served',
      lora_config: { rank: value },
    })
  const step = (adam: unknown): unknown => ({ model_id: abused, adam_params: adam })
  return [
    ...[1e3, 1e5, 1e7, 2 ** 31, 2 ** 53 - 1].map(rank),
    ...[1025, 1e9, 2 ** 53, 0, -1].map((count) =>
      calling(`${count} samples`, refused(/samples/), 'asample', sampling({}, { num_samples: count })),
    ),
    calling('1,024 samples', legal(), 'asample', sampling({ max_tokens: 1 }, { num_samples: 1024 })),
    ...[1e12, 2 ** 53 - 1].map((most) =>
      calling(`max_tokens = ${most}`, legal(), 'asample', sampling({ max_tokens: most, temperature: 1 })),
    ),
    calling('60,000 stop ids', either(/stop/), 'asample', sampling({ stop: times(60_000, (i) => i) })),
    calling(
      '10,000 stop texts',
      either(/stop/),
      'asample',
      sampling({ stop: times(10_000, (i) => `text ${i}`) }),
    ),
    calling('a stop text of 1 MB', either(/stop/), 'asample', sampling({ stop: ['x'.repeat(1_000_000)] })),
    calling('a prompt of 60,000 tokens', either(/token|window/), 'asample', {
      ...recordOf(sampling({})),
      prompt: { chunks: [{ tokens: times(60_000, () => 9) }] },
    }),
    calling('60,000 chunks', either(/token|window|parts/), 'asample', {
      ...recordOf(sampling({})),
      prompt: { chunks: times(60_000, () => ({ tokens: [9] })) },
    }),
    calling('60,000 empty chunks', refused(/token|parts/), 'asample', {
      ...recordOf(sampling({})),
      prompt: { chunks: times(60_000, () => ({ tokens: [] })) },
    }),
    ...[-1, 1024, 2 ** 31 - 1].map((id) =>
      calling(`token ${id}`, either(/token/), 'asample', {
        ...recordOf(sampling({})),
        prompt: { chunks: [{ tokens: [9, id] }] },
      }),
    ),
    calling(
      'no model that it knows',
      refused(/model/, 404),
      'asample',
      sampling({}, { base_model: 'x'.repeat(1_000_000) }),
    ),
    calling(
      'keys of another number',
      refused(/keys/),
      'asample',
      sampling({}, { agoge: { keys: times(1000, String) } }),
    ),
    // The server waits half a minute for the rest.
    ...(context.quick
      ? []
      : [
          calling(
            'a batch of 10^9 of which one comes',
            legal(),
            'asample',
            sampling({}, { agoge: { keys: ['a'], batch: { id: 'b', index: 0, count: 1e9 } } }),
          ),
        ]),
    ...[1e-300, 1e300].map((temperature) =>
      calling(`temperature ${temperature}`, either(/temperature/), 'asample', sampling({ temperature })),
    ),
    ...[1e300, 1e38].map((rate) =>
      calling(`learning rate ${rate}`, legal(), 'optim_step', step({ learning_rate: rate })),
    ),
    calling('a step after it', legal(), 'optim_step', step({ learning_rate: 1e-4 })),
    ...times(12, (i) => calling('another session', legal(), 'create_session', { tags: [i] })),
    calling('10,000 tags', legal(), 'create_session', { tags: times(10_000, String) }),
    calling('telemetry of 1 MB', legal(), 'telemetry', { events: ['x'.repeat(1_000_000)] }),
  ]
})

/** More sequences than a batch has, and bodies as long as they may be. */
export const largeBatches: Kind = listOf('large training batches', (context) => {
  const data = (count: number): unknown => ({
    loss_fn: 'cross_entropy',
    data: times(count, () => datum([9, 10, 11])),
  })
  const asked = (count: number): string =>
    JSON.stringify({ model_id: placeOf(context).abused, forward_backward_input: data(count) })
  const beside = (text: string): string => `{"x":${text},${asked(1).slice(1)}`
  const datumOf = (count: number): unknown => ({
    model_id: placeOf(context).abused,
    forward_backward_input: { loss_fn: 'cross_entropy', data: [datum(times(count, () => 9))] },
  })
  return [
    ...[100, 1000, 10_000].map((count) =>
      calling(`${count} sequences`, either(/data/), 'forward_backward', asked(count)),
    ),
    calling('the longest body, blanks', legal(), 'forward_backward', asked(1).padEnd(longestBody)),
    calling(
      'the longest body, numbers',
      refused(/x is too long/),
      'forward_backward',
      beside(`[0${',0'.repeat(longestBody / 2 - 200)}]`),
    ),
    calling(
      'the longest body, parts',
      refused(/parts/),
      'forward_backward',
      beside(`[0${',{}'.repeat(longestBody / 3 - 200)}]`),
    ),
    calling('a datum of 9,000,000 tokens', refused(/tokens/), 'forward_backward', datumOf(9_000_000)),
  ]
})

/** Of a request that computes a loss. */
const longestBody = 64 * 2 ** 20

/** Many models: more than are kept in memory. */
export const manyModels: Kind = {
  name: 'more models than fit',
  async run({ target, quick }: KindContext) {
    const session = recordOf(
      parsed(String(((await askAs(target, post(api('create_session'), {}))) as { body?: string }).body)),
    )['session_id']
    const tried: Tried[] = []
    const count = quick ? 10 : 16
    for (let i = 0; i < count; i++) {
      const time = Date.now()
      const asked = { session_id: session, model_seq_id: i, base_model: 'served', lora_config: { rank: 1 } }
      const reaction = await askAs(target, post(api('create_model'), asked))
      tried.push(await judged(target, { what: `model ${i}`, expected: legal(), reaction, time }))
    }
    for (let i = 0; i < count; i++) {
      const reaction = await askAs(target, post(api('unload_model'), { model_id: `${String(session)}-${i}` }))
      tried.push(
        await judged(target, {
          what: `unload ${i}`,
          expected: { status: [200, 404] },
          reaction,
          time: Date.now(),
        }),
      )
    }
    return tried
  },
}
