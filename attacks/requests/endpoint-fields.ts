// Wrong types for the fields of the OpenAI-compatible endpoint.
import { type Field, fieldsOf, flags, longText, texts, values, withValue } from './field-kinds.ts'
import { either } from './judge.ts'
import { type Kind, listOf, post } from './kinds.ts'

export const chat = '/v1/chat/completions'
export const completions = '/v1/completions'
export const hi = [{ role: 'user', content: 'hello' }]
export const base = { messages: hi, max_tokens: 2, temperature: 0 }

/** What does nothing where the endpoint knows no such field. */
const nothing = ['null', 'false', '0', '""', '{}']
const optionalFlag = ['null', ...flags]

const sampling: readonly Field[] = [
  { at: 'model', status: [404] },
  { at: 'temperature', legal: ['null', '0', '1.5'] },
  { at: 'top_p', legal: ['null'] },
  { at: 'top_k', legal: ['null', '0', '-1'] },
  { at: 'min_p', legal: ['null', '0'] },
  { at: 'seed', legal: ['null', '0', '-1'] },
  { at: 'max_tokens', legal: ['null'] },
  { at: 'max_completion_tokens', legal: ['null'] },
  { at: 'n', legal: ['null'] },
  { at: 'stop', legal: ['null', '"x"', '"\\u0000"', '"-1"', '[]', '["x"]'] },
  { at: 'stream', legal: optionalFlag },
  { at: 'stream_options', legal: ['null', '{}', '{"a":1}'] },
  { at: 'stream_options.include_usage', legal: optionalFlag },
  { at: 'return_token_ids', legal: optionalFlag },
  { at: 'repetition_penalty', legal: ['null'] },
  ...['frequency_penalty', 'presence_penalty', 'logit_bias', 'best_of', 'use_beam_search'].map((at) => ({
    at,
    legal: nothing,
  })),
]

/** Every field of a chat completion with a value of every sort. */
export const chatFields: Kind = fieldsOf('fields of a chat completion', chat, () => base, [
  ...sampling,
  { at: 'messages' },
  { at: 'tools', legal: ['null', '[]'] },
  { at: 'tool_choice', legal: ['null'] },
  { at: 'parallel_tool_calls', legal: optionalFlag },
  { at: 'response_format', legal: ['null'] },
  { at: 'logprobs', legal: optionalFlag },
  { at: 'top_logprobs', legal: ['null', '0'] },
  ...['functions', 'function_call', 'audio'].map((at) => ({ at, legal: nothing })),
  ...['user', 'metadata', 'service_tier', 'unknown_field'].map((at) => ({ at, legal: ['*'] })),
])

const parameters = { type: 'object', properties: { a: { type: 'string' } } }
const conversation = {
  ...base,
  tools: [{ type: 'function', function: { name: 'f', description: 'x', parameters } }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    {
      role: 'assistant',
      content: 'x',
      reasoning_content: 'y',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'z' },
    ...hi,
  ],
}
const window = { either: [longText] }

/** Every field of messages and tools with a value of every sort. */
export const messageFields: Kind = fieldsOf('fields of messages and tools', chat, () => conversation, [
  { at: 'messages.0', names: /messages/ },
  { at: 'messages.0.role' },
  { at: 'messages.0.content', legal: ['null', ...texts, '[]'], ...window },
  { at: 'messages.0.content.0' },
  { at: 'messages.0.content.0.type', names: /content/ },
  { at: 'messages.0.content.0.text', legal: texts, names: /content/, ...window },
  { at: 'messages.1.content', legal: ['null', ...texts, '[]'], ...window },
  { at: 'messages.1.reasoning_content', legal: ['null', ...texts], ...window },
  { at: 'messages.1.tool_calls', legal: ['null', '[]'] },
  { at: 'messages.1.tool_calls.0' },
  { at: 'messages.1.tool_calls.0.id', legal: ['null', ...texts], ...window },
  { at: 'messages.1.tool_calls.0.function', names: /tool_calls/ },
  { at: 'messages.1.tool_calls.0.function.name', legal: texts, names: /tool_calls/, ...window },
  { at: 'messages.1.tool_calls.0.function.arguments', legal: ['""', '{}', '{"a":1}'] },
  { at: 'messages.2.tool_call_id', legal: texts, ...window },
  { at: 'messages.2.content', legal: ['null', ...texts, '[]'], ...window },
  { at: 'tools.0' },
  { at: 'tools.0.type', names: /tools/ },
  { at: 'tools.0.function', names: /tools/ },
  { at: 'tools.0.function.name', legal: ['"x"', '"\\u0000"', '"-1"'], ...window },
  { at: 'tools.0.function.description', legal: ['null', ...texts], ...window },
  { at: 'tools.0.function.parameters', legal: ['null', '{}', '{"a":1}'] },
])

const text = { prompt: ['hello'], max_tokens: 2 }

/** Every field of a text completion with a value of every sort. */
export const textFields: Kind = fieldsOf('fields of a text completion', completions, () => text, [
  ...sampling,
  { at: 'prompt', legal: ['"x"', '"\\u0000"', '"-1"', '["x"]'] },
  { at: 'prompt.0', legal: ['0', '"x"', '"\\u0000"', '"-1"'], names: /prompt/ },
  { at: 'echo', legal: optionalFlag },
  { at: 'logprobs', legal: ['null', '0'] },
  { at: 'suffix', legal: nothing },
])

const everyField = [
  'n',
  'stop',
  'seed',
  'model',
  'tools',
  'tool_choice',
  'response_format',
  'stream',
  'top_logprobs',
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'messages',
  'tools.0.function.parameters',
  'tools.0.function.parameters.properties',
  'tools.0.function.parameters.properties.a.type',
  'tools.0.function.name',
  'messages.0.content',
  'messages.1.tool_calls',
  'messages.1.content',
  'messages.2.tool_call_id',
  'messages.3',
  'messages.3.role',
  'messages.1.tool_calls.0.function',
]

/** Several fields that are wrong at once, drawn by seed. */
export const drawnFields: Kind = listOf('several wrong fields at once', ({ random, quick }) =>
  Array.from({ length: quick ? 60 : 150 }, () => {
    const drawn = Array.from(
      { length: 2 + random.int(3) },
      () => [random.pick(everyField), random.pick(values)] as const,
    )
    // The innermost first: an outer one replaces what it is in.
    const sorted = [...new Map(drawn)].sort(([a], [b]) => b.length - a.length)
    const body = sorted.reduce<Readonly<Record<string, unknown>>>((whole, [at, value]) => {
      const finite = value.replaceAll(/-?1e999/g, '1e300')
      return JSON.parse(withValue(whole, at, finite)) as Record<string, unknown>
    }, conversation)
    const what = sorted.map(([at, value]) => `${at}: ${value.slice(0, 20)}`).join(', ')
    return { what, expected: { ...either(), status: [200, 400, 404] }, asked: post(chat, body) }
  }),
)
