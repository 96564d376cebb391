import { expect, test } from 'vitest'
import { chatCompletions } from './chat-completions.ts'
import { messages } from './messages.ts'
import { readWire } from './read-wire.ts'
import { responses } from './responses.ts'
import { chatEvents, messageEvents } from './testing/services.ts'

const events = (list: readonly unknown[]): string =>
  list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const sse = 'text/event-stream; charset=utf-8'

// Written from vLLM's documentation of `return_token_ids` (November 2026); not a recording.
const logprobs = (values: readonly number[]) => ({
  content: values.map((logprob) => ({ token: 'x', logprob, bytes: null, top_logprobs: [] })),
})
const vllm = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  prompt_token_ids: [1, 2, 3],
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hi', reasoning: 'hm', tool_calls: [] },
      logprobs: logprobs([-0.5, -0.25]),
      finish_reason: 'stop',
      token_ids: [7, 8],
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const vllmChunk = (choice: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: null, ...choice }],
  ...more,
})

test('token ids and log-probabilities are read, whole and streamed', () => {
  const expected = {
    answer: {
      blocks: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'Hi' },
      ],
      finish: 'stop',
    },
    tokens: {
      prompt: Int32Array.of(1, 2, 3),
      output: Int32Array.of(7, 8),
      logprobs: Float32Array.of(-0.5, -0.25),
    },
  }
  expect(readWire(chatCompletions, 'application/json', JSON.stringify(vllm)).answers).toMatchObject([
    expected,
  ])
  const stream = [
    vllmChunk({ delta: { role: 'assistant', content: '' } }, { prompt_token_ids: [1, 2, 3] }),
    vllmChunk({ delta: { reasoning: 'hm' }, token_ids: [7], logprobs: logprobs([-0.5]) }),
    vllmChunk({ delta: { content: 'Hi' }, token_ids: [8], logprobs: logprobs([-0.25]) }),
    vllmChunk({ finish_reason: 'stop', token_ids: [] }),
  ]
  expect(readWire(chatCompletions, sse, `${events(stream)}data: [DONE]\n\n`).answers).toMatchObject([
    expected,
  ])
  // Ids without as many log-probabilities are none.
  const [choice] = vllm.choices
  const without = { ...vllm, choices: [{ ...choice, logprobs: null }] }
  expect(
    readWire(chatCompletions, 'application/json', JSON.stringify(without)).answers[0],
  ).not.toHaveProperty('tokens')
})

test('every choice is an answer', () => {
  const [choice] = vllm.choices
  const two = { ...vllm, choices: [choice, { ...choice, index: 1, message: { content: 'Ho' } }] }
  const { answers } = readWire(chatCompletions, 'application/json', JSON.stringify(two))
  expect(answers.map(({ answer }) => answer.blocks.at(-1))).toEqual([
    { type: 'text', text: 'Hi' },
    { type: 'text', text: 'Ho' },
  ])
})

test('what is not whole is no answer', () => {
  for (const [protocol, list] of [
    [chatCompletions, chatEvents(['a', 'b']).slice(0, -1)],
    [messages, messageEvents(['a']).slice(0, -1)],
    [responses, [{ type: 'response.created', response: { status: 'in_progress' } }]],
    [responses, [{ type: 'response.failed', response: { status: 'failed' } }]],
    [chatCompletions, [...chatEvents(['a']), { error: { message: 'overloaded' } }]],
    [messages, [...messageEvents(['a']), { type: 'error', error: { type: 'overloaded_error' } }]],
  ] as const)
    expect(() => readWire(protocol, sse, events(list))).toThrow()
  for (const text of ['', '[]', '{}', '{"choices":[]}', '<html>'])
    expect(() => readWire(chatCompletions, 'application/json', text)).toThrow()
})
