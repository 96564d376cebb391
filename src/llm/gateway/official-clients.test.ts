import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { generateObject, generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readChatFormat } from '../agent/chat-format/open-format.ts'
import { loadModel } from '../backend/base-model.ts'
import type { Episode } from '../episode/types.ts'
import { type Gateway, openGateway } from './gateway.ts'
import { localGatewayModel } from './local-model.ts'

// The examples in the documentation of each client, with the names of models that they have there, but for limits of the length: the model of the
// package answers. What it says is its own matter; that the client reads it is what is tested.

let gateway: Gateway
let dispose: () => Promise<void>
const episodes: Episode[] = []
beforeAll(async () => {
  const { folder, backend, tokenizer } = await loadModel()
  const format = await readChatFormat(folder, tokenizer)
  const window = backend.config.max_position_embeddings
  // The same answers in each run.
  const seeded: typeof backend.sample = (requests, options) =>
    backend.sample(
      requests.map((request) => ({ ...request, key: 'seeded' })),
      { ...options, seed: 1 },
    )
  gateway = await openGateway({
    models: [localGatewayModel({ name: 'base', backend: { sample: seeded }, tokenizer, format, window })],
    onEpisode: (episode) => void episodes.push(episode),
  })
  dispose = () => backend.dispose()
})
afterAll(async () => {
  await gateway.close(0)
  await dispose()
})

const parameters = {
  type: 'object' as const,
  properties: { location: { type: 'string' as const } },
  required: ['location'],
  additionalProperties: false,
}
const weather = { name: 'get_weather', description: 'Get the weather in a place.' }
const short = 24

describe('openai', () => {
  const client = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'sk-none', maxRetries: 0 })

  test('chat completions: whole, streamed, a tool, and a schema', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'developer', content: 'Talk like a pirate.' },
      { role: 'user', content: 'Are semicolons optional in JavaScript?' },
    ]
    const asked = { model: 'gpt-5.2', messages, max_completion_tokens: short }
    const completion = await client().chat.completions.create(asked)
    expect(completion.choices[0].message.content).toBeTypeOf('string')
    expect(completion.usage!.completion_tokens).toBeGreaterThan(0)

    const stream = await client().chat.completions.create({
      ...asked,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = []
    for await (const chunk of stream) chunks.push(chunk)
    expect(chunks.at(-1)!.usage!.total_tokens).toBeGreaterThan(0)
    expect(chunks.at(-2)!.choices[0].finish_reason).toMatch(/stop|length/)

    const { choices } = await client().chat.completions.create({
      ...asked,
      max_completion_tokens: 200,
      tools: [{ type: 'function', function: { ...weather, parameters, strict: true } }],
      tool_choice: 'required',
    })
    const [call] = choices[0].message.tool_calls!
    expect(choices[0].finish_reason).toBe('tool_calls')
    expect(call.type === 'function' && [call.function.name, JSON.parse(call.function.arguments)]).toEqual([
      'get_weather',
      { location: expect.any(String) },
    ])

    const Event = z.object({ name: z.string().max(8), weekend: z.boolean() })
    const parsed = await client().chat.completions.parse({
      model: 'gpt-4o-2024-08-06',
      messages,
      response_format: zodResponseFormat(Event, 'event'),
    })
    expect(parsed.choices[0].message.parsed).toEqual({
      name: expect.any(String),
      weekend: expect.any(Boolean),
    })
  })

  test('chat.completions.runTools', async () => {
    const asked: object[] = []
    const runner = client().chat.completions.runTools(
      {
        model: 'gpt-5.2',
        messages: [{ role: 'user', content: 'How is the weather this week?' }],
        max_completion_tokens: 200,
        tool_choice: 'required',
        tools: [
          {
            type: 'function',
            function: {
              ...weather,
              parameters,
              parse: JSON.parse,
              function: (args: object) => {
                asked.push(args)
                return `Snow in ${JSON.stringify(args)}`
              },
            },
          },
        ],
      },
      { maxChatCompletions: 2 },
    )
    const tools: unknown[] = []
    runner.on('functionToolCallResult', (result) => tools.push(result))
    await runner.done().catch(() => {})
    expect(asked.length).toBeGreaterThan(0)
    expect(tools.length).toBe(asked.length)
  })

  test('responses: whole, streamed, a function, a schema, and the answer before', async () => {
    const asked = { model: 'gpt-5.2', max_output_tokens: short }
    const response = await client().responses.create({
      ...asked,
      instructions: 'You are a coding assistant that talks like a pirate',
      input: 'Are semicolons optional in JavaScript?',
    })
    expect([response.object, response.output_text.length > 0]).toEqual(['response', true])
    const next = await client().responses.create({
      ...asked,
      input: 'Why?',
      previous_response_id: response.id,
    })
    expect(next.usage!.input_tokens).toBeGreaterThan(response.output_text.length > 0 ? 5 : 0)

    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    const stream = await client().responses.create({
      ...asked,
      input: 'Say "Sheep sleep deep"',
      stream: true,
    })
    for await (const event of stream) events.push(event)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i))
    expect(events[0].type).toBe('response.created')
    expect(events.at(-1)!.type).toMatch(/^response\.(completed|incomplete)$/)

    const tools = [{ type: 'function' as const, ...weather, parameters, strict: true }]
    let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'What is the weather in Paris?' }]
    const called = client().responses.stream({
      model: 'gpt-5.2',
      input,
      tools,
      tool_choice: 'required',
      max_output_tokens: 200,
    })
    const { output } = await called.finalResponse()
    const [call] = output.filter((item) => item.type === 'function_call')
    expect(JSON.parse(call.arguments)).toEqual({ location: expect.any(String) })
    // The example of the documentation, whose types are too narrow for it.
    const said = output as OpenAI.Responses.ResponseInput
    input = [...input, ...said, { type: 'function_call_output', call_id: call.call_id, output: '14' }]
    const after = await client().responses.create({ ...asked, input, tools })
    expect(after.status).toMatch(/^(completed|incomplete)$/)

    const parsed = await client().responses.parse({
      model: 'gpt-5.2',
      input: 'Alice goes to a fair.',
      text: { format: zodTextFormat(z.object({ day: z.enum(['Friday', 'Monday']) }), 'event') },
    })
    expect(parsed.output_parsed!.day).toMatch(/^(Friday|Monday)$/)
  })
})

describe('@anthropic-ai/sdk', () => {
  const client = () => new Anthropic({ baseURL: gateway.url, apiKey: 'none', maxRetries: 0 })
  const asked = { model: 'claude-opus-4-8', max_tokens: short }

  test('messages: whole, streamed, with a tool', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello, Claude' }]
    const message = await client().messages.create({ ...asked, messages })
    expect(message).toMatchObject({ type: 'message', role: 'assistant', content: [{ type: 'text' }] })
    expect(message.stop_reason).toMatch(/end_turn|max_tokens/)

    let text = ''
    const stream = client()
      .messages.stream({ ...asked, messages })
      .on('text', (delta) => (text += delta))
    const final = await stream.finalMessage()
    expect(final.content).toMatchObject([{ type: 'text', text }])
    expect(final.usage.output_tokens).toBeGreaterThan(0)

    const tools = [{ ...weather, input_schema: parameters }]
    const called = await client().messages.create({
      ...asked,
      max_tokens: 200,
      messages,
      tools,
      tool_choice: { type: 'any' },
    })
    const [use] = called.content.filter((block) => block.type === 'tool_use')
    expect([called.stop_reason, use.name, use.input]).toEqual([
      'tool_use',
      'get_weather',
      { location: expect.any(String) },
    ])
    const after = await client().messages.create({
      ...asked,
      tools,
      messages: [
        ...messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: '15 degrees' }] },
      ],
    })
    expect(after.content).toBeInstanceOf(Array)
  })
})

describe.each([
  ['@ai-sdk/openai', () => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none' })('gpt-5')],
  [
    '@ai-sdk/openai, chat',
    () => createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none' }).chat('gpt-4.1'),
  ],
  [
    '@ai-sdk/anthropic',
    () => createAnthropic({ baseURL: `${gateway.url}/v1`, apiKey: 'none' })('claude-opus-4-8'),
  ],
  [
    '@ai-sdk/openai-compatible',
    () =>
      createOpenAICompatible({
        name: 'agoge',
        baseURL: `${gateway.url}/v1`,
        supportsStructuredOutputs: true,
        includeUsage: true,
      })('any'),
  ],
] satisfies [string, () => LanguageModel][])('%s', (_, model) => {
  test('generateText, streamText, tools and objects', async () => {
    const limits = { maxOutputTokens: short, maxRetries: 0 }
    const { text, usage } = await generateText({
      model: model(),
      ...limits,
      prompt: 'Write a recipe for 4 people.',
    })
    expect([text.length > 0, usage.outputTokens! > 0]).toEqual([true, true])

    const streamed = streamText({ model: model(), ...limits, prompt: 'Invent a new holiday.' })
    let read = ''
    for await (const part of streamed.textStream) read += part
    expect(read).toBe(await streamed.text)
    expect((await streamed.usage).outputTokens).toBeGreaterThan(0)

    const places: string[] = []
    const { steps } = await generateText({
      model: model(),
      maxRetries: 0,
      maxOutputTokens: 200,
      prompt: 'What is the weather in San Francisco?',
      stopWhen: stepCountIs(2),
      toolChoice: 'required',
      tools: {
        weather: tool({
          description: 'Get the weather in a location',
          inputSchema: z.object({ location: z.string().describe('The location') }),
          execute: ({ location }) => {
            places.push(location)
            return { location, temperature: 21 }
          },
        }),
      },
    })
    expect(places.length).toBeGreaterThan(0)
    expect(steps[0].finishReason).toBe('tool-calls')
    const { object } = await generateObject({
      model: model(),
      maxRetries: 0,
      maxOutputTokens: 300,
      schema: z.object({ kind: z.enum(['fruit', 'bread']) }),
      prompt: 'Generate a recipe.',
    })
    expect(object.kind).toMatch(/^(fruit|bread)$/)
  })
})
