import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readEpisodes } from '../episode/codec.ts'
import type { Agent, AgentEndpoint, AgogeConfig } from './config.ts'
import { evaluate } from './evaluate.ts'
import { answerMatches } from './scorers.ts'
import { httpError, request, type Said, scripted } from './testing/scripted-model.ts'

const tasks = Array.from({ length: 6 }, (_, i) => ({
  id: `${i}`,
  prompt: `What costs thing ${i}?`,
  expected: { answer: 3 * i + 1 },
}))
const schema = { type: 'object' as const, properties: { of: { type: 'number' } }, required: ['of'] }
const price = (input: unknown): string => String(3 * (input as { of: number }).of + 1)
/** Asks for the price by the tool, then says it. */
const shop = (options: Parameters<typeof request>[0]): Said => {
  const last = options.prompt.at(-1)!
  if (last.role !== 'tool') return { tool: 'price', input: { of: Number(/\d+/.exec(request(options))) } }
  const [result] = last.content
  return `It costs ${result.type === 'tool-result' && result.output.type === 'text' ? result.output.value : ''}.`
}

type Ask = (prompt: string, endpoint: AgentEndpoint) => Promise<string>

const openAIOf = ({ baseURL, apiKey }: AgentEndpoint) => new OpenAI({ baseURL, apiKey })
const chatTools = [{ type: 'function' as const, function: { name: 'price', parameters: schema } }]

async function chat(prompt: string, endpoint: AgentEndpoint, stream: boolean): Promise<string> {
  const client = openAIOf(endpoint)
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const asked = { model: endpoint.model, messages, tools: chatTools }
    const { choices } = stream
      ? await client.chat.completions.stream(asked).finalChatCompletion()
      : await client.chat.completions.create(asked)
    const { message, finish_reason: finish } = choices[0]
    messages.push(message)
    expect(finish).toBe(message.tool_calls?.length ? 'tool_calls' : 'stop')
    if (!message.tool_calls?.length) return message.content ?? ''
    for (const call of message.tool_calls)
      if (call.type === 'function')
        messages.push({
          role: 'tool',
          tool_call_id: call.id,
          content: price(JSON.parse(call.function.arguments)),
        })
  }
}

async function respond(prompt: string, endpoint: AgentEndpoint, stream: boolean): Promise<string> {
  const client = openAIOf(endpoint)
  const tools = [{ type: 'function' as const, name: 'price', parameters: schema, strict: false }]
  let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: prompt }]
  let previous: string | undefined
  for (;;) {
    const asked = {
      model: 'any-name',
      input,
      tools,
      ...(previous !== undefined && { previous_response_id: previous }),
    }
    const response = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked)
    previous = response.id
    const calls = (response.output as OpenAI.Responses.ResponseOutputItem[]).filter(
      (item) => item.type === 'function_call',
    )
    if (calls.length === 0) return response.output_text
    input = calls.map(({ call_id, arguments: given }) => ({
      type: 'function_call_output',
      call_id,
      output: price(JSON.parse(given)),
    }))
  }
}

async function message(prompt: string, { baseURL, apiKey }: AgentEndpoint, stream: boolean): Promise<string> {
  const client = new Anthropic({ baseURL, apiKey })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: prompt }]
  for (;;) {
    const tools = [{ name: 'price', input_schema: schema }]
    const asked = { model: 'claude', max_tokens: 100, messages, tools }
    const said = stream
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked)
    messages.push({ role: 'assistant', content: said.content })
    expect([20, 1500]).toContain(said.usage.input_tokens)
    expect([5, 100]).toContain(said.usage.output_tokens)
    const results = said.content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result', tool_use_id: block.id, content: price(block.input) }]
        : [],
    )
    if (results.length === 0)
      return said.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
    messages.push({ role: 'user', content: results })
  }
}

const clients: Record<string, Ask> = {}
for (const [name, ask] of Object.entries({ chat, respond, message })) {
  clients[name] = (prompt, endpoint) => ask(prompt, endpoint, false)
  clients[`${name}, streamed`] = (prompt, endpoint) => ask(prompt, endpoint, true)
}
const agentOf =
  (ask: Ask): Agent =>
  async ({ prompt }, { endpoint }) =>
    ask(prompt, await endpoint())
const quick = { backoffSeconds: 0.001, score: answerMatches() }
const folder = (): string => mkdtempSync(join(tmpdir(), 'agoge-endpoint-'))

test.each(Object.entries(clients))(
  '%s: agents of official clients are evaluated as those with the model object are',
  async (_, ask) => {
    const model = scripted(shop)
    const out = folder()
    const { models, spent } = await evaluate(
      { agent: agentOf(ask), tasks, models: [model], ...quick },
      { out },
    ).result
    expect(models[0]).toMatchObject({
      success: { mean: 1 },
      masked: 0,
      modelCalls: 2,
      validCalls: 1,
    })
    expect([model.calls.length, spent.tokens]).toEqual([12, 12 * 25])
    for (const { nodes, samples } of readEpisodes(join(out, 'episodes.jsonl'))) {
      expect(nodes.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
      expect(nodes.map(({ parent }) => parent)).toEqual([null, 0, 1, 2])
      expect(samples.map(({ output }) => output)).toEqual([1, 3])
    }
  },
)

test.each(Object.entries(clients))(
  '%s: calls that fail once are made again, and others mask',
  async (_, ask) => {
    const passing = scripted(shop, { fail: (call) => (call % 2 === 1 ? httpError(503) : undefined) })
    const agent = agentOf(ask)
    const concurrency = 1
    const first = await evaluate({ agent, tasks, models: [passing], ...quick, concurrency }).result
    expect(first.models[0]).toMatchObject({ success: { mean: 1 }, masked: 0 })
    // The fourth task of six.
    const lasting = scripted(shop, {
      fail: (call) => (call === 7 ? httpError(422, '{"error":"no"}') : undefined),
    })
    const second = await evaluate({ agent, tasks, models: [lasting], ...quick, concurrency }).result
    expect(second.models[0]).toMatchObject({ success: { mean: 1 }, masked: 1 })
    // The client did not ask again.
    expect(lasting.calls).toHaveLength(11)
  },
)

test('a fault that the agent hides masks its trial, and streams that break off do', async () => {
  const hides: Agent = async ({ prompt }, { endpoint }) => {
    const client = openAIOf(await endpoint())
    const asked = { model: 'm', messages: [{ role: 'user' as const, content: prompt }] }
    try {
      return (await client.chat.completions.stream(asked).finalChatCompletion()).choices[0].message.content
    } catch {
      return '1'
    }
  }
  const model = scripted(() => '1', { cut: (call) => call > 1 })
  const { models, records } = await evaluate({
    agent: hides,
    tasks: tasks.slice(0, 3),
    models: [model],
    concurrency: 1,
    retries: 0,
    ...quick,
  }).result
  expect(models[0]).toMatchObject({ masked: 2 })
  expect(records[1]).toMatchObject({ status: 'masked', error: 'the connection was lost' })
})

test('a wrong key of the provider ends the evaluation; a conversation that is too long is a failure', async () => {
  const refusing = scripted(shop, { fail: () => httpError(401) })
  const agent = agentOf(clients['chat'])
  await expect(evaluate({ agent, tasks, models: [refusing], ...quick }).result).rejects.toMatchObject({
    code: 'model-endpoint-refused',
  })
  const full = scripted(shop, { fail: () => httpError(400, 'context_length_exceeded') })
  for (const name of ['respond', 'message, streamed']) {
    const agent = agentOf(clients[name])
    const { models, records } = await evaluate({ agent, tasks: [tasks[0]], models: [full], ...quick }).result
    expect(models[0]).toMatchObject({ success: { mean: 0 }, masked: 0 })
    expect(records[0]).toMatchObject({ status: 'failed', ending: 'token-limit' })
  }
})

test.each(Object.entries(clients))('%s: the budget is not exceeded', async (_, ask) => {
  const model = scripted(shop, { usage: { input: 1500, output: 100 } })
  const config: AgogeConfig = {
    agent: agentOf(ask),
    tasks,
    models: [model],
    budget: { tokens: 12_000 },
    maxOutputTokens: 100,
    ...quick,
  }
  const { isComplete, spent, records } = await evaluate(config).result
  expect([isComplete, records.length > 0, records.every(({ status }) => status === 'ok')]).toEqual([
    false,
    true,
    true,
  ])
  expect(spent.tokens).toBeLessThanOrEqual(12_000)
  expect(spent.tokens).toBe(model.calls.length * 1600)
})

test('a resumed evaluation does not repeat the calls of an agent of another SDK', async () => {
  const out = folder()
  const dies = scripted(shop, { fail: (call) => (call === 8 ? httpError(401) : undefined) })
  const config = { agent: agentOf(clients['message']), tasks, ...quick, concurrency: 1 }
  await expect(evaluate({ ...config, models: [dies] }, { out }).result).rejects.toMatchObject({
    code: 'model-endpoint-refused',
  })
  const after = scripted(shop)
  const { models } = await evaluate({ ...config, models: [after] }, { out, resume: true }).result
  expect(models[0]).toMatchObject({ success: { mean: 1 }, masked: 0 })
  // Seven calls of twelve were answered before.
  expect(after.calls).toHaveLength(5)
  expect(readFileSync(join(out, 'journal.jsonl'), 'utf8')).not.toContain('agoge-')
})

test('a key ends with its trial, and requests that cannot be read are refused in the shape of their protocol', async () => {
  let kept: AgentEndpoint | undefined
  const agent: Agent = async (_, { endpoint, trial }) => {
    const { baseURL, apiKey, model } = (kept ??= await endpoint())
    if (trial === 1) {
      const ask = new OpenAI({ baseURL, apiKey, maxRetries: 0 }).models.list()
      await expect(ask).rejects.toMatchObject({ status: 401 })
      return '1'
    }
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 })
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual([model])
    const messages = [{ role: 'robot', content: '' }] as unknown as OpenAI.ChatCompletionMessageParam[]
    await expect(client.chat.completions.create({ model, messages })).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].role',
    })
    await expect(
      client.responses.create({ model, input: 'x', previous_response_id: 'resp_0' }),
    ).rejects.toMatchObject({ status: 404, param: 'previous_response_id' })
    const post = async (headers: Record<string, string>, body: string): Promise<unknown> => {
      const response = await fetch(`${baseURL}/messages`, { method: 'POST', headers, body })
      return { status: response.status, ...((await response.json()) as object) }
    }
    const json = { 'content-type': 'application/json' }
    expect(await post({ ...json, 'x-api-key': apiKey }, '{"messages":[]}')).toMatchObject({
      status: 400,
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('max_tokens') },
    })
    expect(await post({ ...json, 'x-api-key': 'other' }, '{}')).toMatchObject({
      status: 401,
      error: { type: 'authentication_error' },
    })
    expect(await post({ ...json, 'x-api-key': apiKey }, '{')).toMatchObject({ status: 400 })
    return '1'
  }
  const { models } = await evaluate({
    agent,
    tasks: [tasks[0]],
    models: [scripted(() => '1')],
    trials: 2,
    concurrency: 1,
    ...quick,
  }).result
  expect(models[0]).toMatchObject({ success: { mean: 1 }, masked: 0 })
})
