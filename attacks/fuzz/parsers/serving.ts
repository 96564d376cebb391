// Requests to an endpoint.
import { createByteTokenizer } from '../../../src/llm/tokenizer/byte-tokenizer.ts'
import { trainTokenizer } from '../../../src/llm/tokenizer/bpe-train.ts'
import { bodyLimits, createJsonReader } from '../../../src/llm/serving/json-body.ts'
import { noSecrets, redacted } from '../../../src/untrusted/untrusted.ts'
import { readChatRequest } from '../../../src/llm/serving/openai/chat-request.ts'
import { RequestError } from '../../../src/llm/serving/openai/protocol.ts'
import { answerText } from '../../../src/llm/serving/openai/text-completions.ts'
import { makeJson } from '../mutate-json.ts'
import { bytesOf, isRecord, jsonOf, Mismatch, mustEqual } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'

const sampling =
  'model stream stream_options include_usage temperature top_p top_k min_p seed stop n max_tokens max_completion_tokens'.split(
    ' ',
  )

const chats = {
  examples: [
    {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'ok' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      temperature: 0.7,
      stop: ['\n'],
      n: 2,
      logprobs: true,
      top_logprobs: 3,
    },
    {
      messages: [{ role: 'developer', content: 'x' }],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 5,
      seed: 1,
    },
    {
      messages: [{ role: 'user', content: 'x' }],
      response_format: { type: 'json_object' },
      tool_choice: 'none',
      parallel_tool_calls: false,
    },
  ].map((each) => JSON.stringify(each)),
  words: [
    ...sampling,
    ...'messages role content type text refusal tool_calls function name arguments tool_call_id tools parameters tool_choice'.split(
      ' ',
    ),
    ...'response_format json_schema schema json_object auto required none logprobs top_logprobs logit_bias functions audio'.split(
      ' ',
    ),
  ],
}

const refuses = (error: unknown): boolean => error instanceof RequestError && error.status < 500

const chat: FuzzParser = {
  name: 'chat completion requests',
  share: 2,
  make: (random) => makeJson(random, chats),
  async parse(input, reach) {
    const body = await bodyOf(input)
    reach(1)
    if (!isRecord(body)) return
    if (Array.isArray(body['messages'])) reach(2)
    const request = readChatRequest(body)
    reach(3)
    if (!request.messages.every(({ role, text }) => typeof role === 'string' && typeof text === 'string'))
      throw new Mismatch('a message without role or text')
    mustEqual(JSON.parse(JSON.stringify(request.tools)), request.tools, 'tools written and read')
  },
  refuses,
}

const texts = {
  examples: [
    { model: 'm', prompt: 'Once upon', max_tokens: 5, temperature: 0, stop: 'x', echo: true, logprobs: 2 },
    { prompt: ['a', 'b'], n: 2, seed: 7 },
    { prompt: [1, 2, 3], stream: true },
    { prompt: [[1], [2, 3]], return_token_ids: true, top_p: 0.5 },
  ].map((each) => JSON.stringify(each)),
  words: [...sampling, 'prompt', 'echo', 'logprobs', 'suffix', 'best_of', 'return_token_ids'],
}

const tokenizer = createByteTokenizer(
  trainTokenizer(['once upon a time, once upon'], { vocabularySize: 270, specialTokens: ['<|end|>'] }),
)
const accepted = new RequestError(299, 'accepted', 'accepted')

const text: FuzzParser = {
  name: 'text completion requests',
  make: (random) => makeJson(random, texts),
  async parse(input, reach) {
    const body = await bodyOf(input)
    reach(1)
    if (!isRecord(body)) return
    if ('prompt' in body) reach(2)
    const model = { name: 'm', backend: { sample: () => Promise.reject(accepted) }, tokenizer, window: 64 }
    const queue = { load: 0, limit: 16, sample: () => Promise.reject(accepted) }
    const reply = {
      signal: new AbortController().signal,
      json: () => {},
      events: () => ({ send: () => {}, end: () => {} }),
    }
    try {
      await answerText(body, model, queue, reply)
    } catch (error) {
      if (error !== accepted) throw error
      reach(3)
    }
  },
  refuses,
}

const bodies = { examples: [...chats.examples, ...texts.examples], words: chats.words }

const json: FuzzParser = {
  name: 'bodies of requests',
  make: (random) => makeJson(random, bodies),
  async parse(input, reach) {
    // As bytes: half of a character of two halves cannot be sent.
    const plain = jsonOf(bytesOf(input))
    if (plain !== undefined) reach(2)
    const body = await bodyOf(input)
    reach(3)
    mustEqual(body, plain?.value, 'a body read in pieces')
  },
  refuses,
}

/** Reads a body as it arrives, in pieces, and parses it a few values at a time. */
async function bodyOf(input: string | Uint8Array): Promise<unknown> {
  const bytes = bytesOf(input)
  const refuse = (problem: string): never => {
    throw new RequestError(400, 'invalid_json', problem)
  }
  const reader = createJsonReader(bodyLimits, refuse, 8)
  const half = bytes.length >> 1
  reader.push(bytes.subarray(0, half))
  reader.push(bytes.subarray(half))
  return redacted(await reader.end(), noSecrets)
}

export const servingParsers: readonly FuzzParser[] = [chat, text, json]
