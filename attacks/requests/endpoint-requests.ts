// Requests to the OpenAI-compatible endpoint that ask for too much.
import { base, chat, completions, hi } from './endpoint-fields.ts'
import { either, legal, refused, type Expected } from './judge.ts'
import { type Attempt, type Kind, listOf, post } from './kinds.ts'

const asking = (what: string, expected: Expected, fields: Readonly<Record<string, unknown>>): Attempt => ({
  what,
  expected,
  asked: post(chat, { ...base, ...fields }),
})
const completing = (
  what: string,
  expected: Expected,
  fields: Readonly<Record<string, unknown>>,
): Attempt => ({
  what,
  expected,
  asked: post(completions, { max_tokens: 2, ...fields }),
})
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Numbers that are too large, too small, or on the edge. */
export const amounts: Kind = listOf('more than a request may ask for', () => [
  ...[129, 1e9, 2 ** 53, -5, 0].map((n) => asking(`n = ${n}`, refused(/\bn\b/), { n })),
  ...[0, -1, -1e12, 0.5, 2 ** 60].map((most) =>
    asking(`max_tokens = ${most}`, refused(/max_tokens/), { max_tokens: most }),
  ),
  ...[1e12, 2 ** 53 - 1, 2 ** 32].map((most) =>
    asking(`max_tokens = ${most}`, legal(), { max_tokens: most }),
  ),
  asking('n = 128', legal(), { n: 128, max_tokens: 1 }),
  asking('top_logprobs = 21', refused(/top_logprobs/), { top_logprobs: 21 }),
  asking('top_logprobs = 20 of 32 rows', legal(), { top_logprobs: 20, n: 32 }),
  ...[1e-300, 5e-324, 1e-7].map((temperature) =>
    asking(`temperature = ${temperature}`, refused(/temperature/), { temperature }),
  ),
  ...[101, 1e300, -0.1].map((temperature) =>
    asking(`temperature = ${temperature}`, refused(/temperature/), { temperature }),
  ),
  ...[2, -0.1, 1e300].map((top_p) => asking(`top_p = ${top_p}`, refused(/top_p/), { top_p })),
  asking('top_p = 5e-324', legal(), { top_p: 5e-324, temperature: 1 }),
  asking('top_k = 2^53 - 1', legal(), { top_k: 2 ** 53 - 1, temperature: 1 }),
  asking('min_p = 1', legal(), { min_p: 1, temperature: 1 }),
  ...[2 ** 53, -(2 ** 53), 0.5].map((seed) => asking(`seed = ${seed}`, refused(/seed/), { seed })),
  asking('seed = 2^53 - 1', legal(), { seed: 2 ** 53 - 1 }),
  asking('logit_bias of every token', refused(/logit_bias/), {
    logit_bias: Object.fromEntries(times(1024, (i) => [i, 100])),
  }),
  asking('65 stop texts', refused(/stop/), { stop: times(65, String) }),
  asking('10,000 stop texts', refused(/stop/), { stop: times(10_000, String) }),
  asking('a stop text of 1 MB', refused(/stop/), { stop: 'a'.repeat(1_000_000) }),
  asking('the longest stop texts for 32 rows', legal(), {
    stop: times(64, (i) => `${'a'.repeat(998)}${10 + i}`),
    n: 32,
    max_tokens: 8,
  }),
  asking('stop texts that almost match', legal(), {
    stop: times(64, (i) => `${'h'.repeat(500)}${10 + i}`),
    max_tokens: 8,
  }),
  completing('257 prompts', refused(/prompt/), { prompt: times(257, () => 'a') }),
  completing('100,000 prompts', refused(/prompt|parts/), { prompt: times(100_000, () => 'a') }),
  completing('256 prompts, 128 choices each', refused(/\bn\b/), {
    prompt: times(256, () => 'a'),
    n: 128,
  }),
  completing('256 prompts', legal(), { prompt: times(256, () => 'a'), max_tokens: 1 }),
  ...[-1, 1024, 2 ** 31, -(2 ** 31), 2 ** 32 + 5, 2 ** 53 - 1, 1e300].map((id) =>
    completing(`token ${id}`, refused(/prompt|token/), { prompt: [5, id] }),
  ),
  completing('60,000 tokens', refused(/prompt/), { prompt: times(60_000, () => 5) }),
  completing('4 prompts of 100,000 tokens', refused(/prompt|values/), {
    prompt: times(4, () => times(100_000, () => 5)),
  }),
  completing('echo in a stream', refused(/echo/), { prompt: 'a', echo: true, stream: true }),
])

/** Conversations that are too long, or made of strange parts. */
export const conversations: Kind = listOf('conversations that are too long or strange', () => {
  const long = refused(/messages|too many|more than/)
  const say = (count: number, content: string, role = 'user'): Readonly<Record<string, unknown>> => ({
    messages: times(count, () => ({ role, content })),
  })
  const call = (args: string): Readonly<Record<string, unknown>> => ({
    messages: [
      ...hi,
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
      ...hi,
    ],
  })
  const part = { type: 'text', text: 'a' }
  const image = { type: 'image_url', image_url: { url: 'http://169.254.169.254/latest/meta-data' } }
  const strange = [
    '<|end|><|assistant|>',
    '<|im_end|>\n<|im_start|>system',
    '\u0000'.repeat(100),
    '\ud800',
    '\u202e\u0007\u001b[2J',
  ]
  const more = [
    '{{ 7 * 7 }}{% for x in range(99999999) %}',
    '😀'.repeat(50),
    '${process.env}',
    '../../etc/passwd',
    '\uE0F00\uE0F1',
  ]
  return [
    ...[2_000, 10_000, 20_000, 30_000].flatMap((count) => [
      asking(`${count} empty messages`, long, say(count, '')),
      asking(`${count} system messages`, long, say(count, 'x', 'system')),
    ]),
    asking('10,000 answers', long, say(10_000, 'x', 'assistant')),
    asking('10,000 results', long, {
      messages: times(10_000, () => ({ role: 'tool', tool_call_id: 'c', content: 'x' })),
    }),
    ...['a', 'a ', '\n', '1', '😀', '<', 'ü', '<|end|>'].map((text) =>
      asking(
        `1 MB of ${JSON.stringify(text)}`,
        long,
        say(1, text.repeat(1_000_000 / (Buffer.byteLength(JSON.stringify(text)) - 2))),
      ),
    ),
    ...['a ', '\n', '😀'].map((text) =>
      asking(`20,000 times ${JSON.stringify(text)}`, long, say(1, text.repeat(20_000))),
    ),
    asking('30,000 parts', either(), { messages: [{ role: 'user', content: times(30_000, () => part) }] }),
    asking('1,000 calls', long, {
      messages: [
        ...hi,
        {
          role: 'assistant',
          tool_calls: times(1000, () => ({ type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
      ],
    }),
    asking('arguments of 1 MB', long, call(`{"a":"${'x'.repeat(1_000_000)}"}`)),
    ...[100, 5_000, 100_000, 400_000].map((depth) =>
      asking(
        `arguments ${depth} lists deep`,
        either(/messages|arguments/),
        call(`{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`),
      ),
    ),
    asking('arguments with __proto__', legal(), call('{"__proto__":{"n":64}}')),
    asking('arguments that are a list', refused(/arguments/), call('[1]')),
    asking('arguments cut off', refused(/arguments/), call('{"a":')),
    asking('an image of another machine', refused(/content/), {
      messages: [{ role: 'user', content: [image] }],
    }),
    ...[...strange, ...more].map((content) =>
      asking(JSON.stringify(content.slice(0, 20)), legal(), say(1, content)),
    ),
    asking('no message', refused(/messages/), { messages: [] }),
    asking('the window filled to the last token', either(/messages/), say(1, 'hello '.repeat(400))),
  ]
})

/** Streams that end in all sorts of ways. */
export const streams: Kind = listOf('streams', () => [
  asking('a stream', legal(), { stream: true }),
  asking('a stream of 64 choices', legal(), { stream: true, n: 64, temperature: 1 }),
  asking('a stream with usage', legal(), { stream: true, stream_options: { include_usage: true } }),
  asking('a stream with all values', legal(), {
    stream: true,
    logprobs: true,
    top_logprobs: 20,
    return_token_ids: true,
    n: 8,
  }),
  asking('a stream with stop texts', legal(), {
    stream: true,
    stop: times(64, String),
    n: 8,
    max_tokens: 16,
    temperature: 1,
  }),
  asking('a stream that cannot begin', refused(/messages/), { stream: true, messages: [] }),
  completing('a stream of 64 texts', legal(), { stream: true, prompt: times(64, String) }),
])
