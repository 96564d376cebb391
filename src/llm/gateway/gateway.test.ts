import { setTimeout as sleep } from 'node:timers/promises'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { createTemplateFormat } from '../agent/chat-format/template-format.ts'
import { saying } from '../agent/testing/saying.ts'
import { tinyTemplate, tinyTokenizer } from '../agent/testing/tiny-checkpoint.ts'
import { encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { serveOpenAI } from '../serving/openai/serve.ts'
import { type GatewayOptions, openGateway } from './gateway.ts'
import { localGatewayModel } from './local-model.ts'
import {
  chatAnswer,
  chatEvents,
  messageEvents,
  responseAnswer,
  sendEvents,
  sendJson,
  startService,
} from './testing/services.ts'

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })
const tiny = (say: (prompt: string) => string, gate?: () => Promise<void>) =>
  localGatewayModel({ name: 'tiny', backend: saying(tokenizer, say, gate), tokenizer, format, window: 2000 })

async function open(options: Omit<GatewayOptions, 'onEpisode'>): Promise<{
  url: string
  episodes: Episode[]
  notices: string[]
  close: () => Promise<void>
}> {
  const [episodes, notices]: [Episode[], string[]] = [[], []]
  const { url, close } = await openGateway({
    onEpisode: (episode) => void episodes.push(episode),
    onNotice: (text) => void notices.push(text),
    ...options,
  })
  onTestFinished(() => close(0))
  return { url, episodes, notices, close: () => close(1) }
}

const key = 'sk-very-secret-0123456789'
const chat = (url: string, apiKey = key, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, defaultHeaders: headers }).chat.completions
const user = (content: string) => ({ role: 'user' as const, content })
const post = async (url: string, body: unknown = {}): Promise<{ status: number; body: unknown }> => {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() }
}

test('a session is named by a header, a path or a key; without a name it is a conversation', async () => {
  const gateway = await open({
    models: [tiny((prompt) => (prompt.includes('B?') ? 'b<|im_end|>' : 'a<|im_end|>'))],
  })
  const ask = { model: 'any', messages: [user('A?')] }
  await chat(gateway.url, key, { 'x-agoge-session': 'header', 'x-agoge-task': 'task-1' }).create(ask)
  await new OpenAI({ baseURL: `${gateway.url}/s/path/v1`, apiKey: key }).chat.completions.create(ask)
  await chat(gateway.url, 'session-key').create(ask)
  await chat(gateway.url, `session-key:${key}`).create(ask)
  // Two conversations, of which the first goes on, and a branch of it.
  const first = await chat(gateway.url).create(ask).withResponse()
  await chat(gateway.url).create(ask)
  const longer = [user('A?'), { role: 'assistant' as const, content: 'a' }]
  await chat(gateway.url).create({ model: 'any', messages: [...longer, user('B?')] })
  await chat(gateway.url).create({ model: 'any', messages: [...longer, user('C?')] })
  // Another client with the same words has a conversation of its own.
  await chat(gateway.url, 'another-key').create({ model: 'any', messages: [...longer, user('B?')] })
  expect(first.response.headers.get('x-agoge-session')).toBe('conversation-1')
  const { sessions } = (await (await fetch(`${gateway.url}/agoge/sessions`)).json()) as {
    sessions: { name: string; calls: number }[]
  }
  expect(sessions.map(({ name, calls }) => [name, calls])).toEqual([
    ['header', 1],
    ['path', 1],
    ['key', 2],
    ['conversation-1', 1],
    ['conversation-2', 3],
    ['conversation-3', 1],
  ])
  await gateway.close()
  expect(gateway.episodes).toHaveLength(6)
  expect(gateway.episodes[0]).toMatchObject({ id: 'header/0', task: 'task-1', group: 'task-1', status: 'ok' })
  const { nodes, samples } = gateway.episodes[4]
  expect(nodes.map(({ text, parent }) => [text, parent])).toEqual([
    ['A?', null],
    ['a', 0],
    ['B?', 1],
    ['b', 2],
    ['C?', 1],
    ['a', 4],
  ])
  expect(samples.every(({ mask }) => mask.some((one) => one === 1))).toBe(true)
})

test('rewards are sent, or are those of a function at the end; a name can be used again', async () => {
  const gateway = await open({
    models: [tiny(() => 'done<|im_end|>')],
    score: (episode, { task, output }) =>
      Promise.resolve({
        ...episode,
        rewards: [...episode.rewards, { agent: 'agent', name: 'own', value: output === task ? 1 : 0 }],
      }),
  })
  const ask = () => chat(gateway.url, 'session-s').create({ model: 'm', messages: [user('A?')] })
  const at = `${gateway.url}/agoge/sessions/s`
  expect((await post(`${at}/reward`, { name: 'right', value: 1 })).status).toBe(404)
  await ask()
  expect((await post(`${at}/reward`, { name: 'right', value: '1' })).status).toBe(400)
  expect((await post(`${at}/reward`, { name: 'right', value: 1, reason: 'it is' })).status).toBe(200)
  expect((await post(`${at}/end`, { task: 't', output: 't' })).body).toMatchObject({
    id: 's/0',
    status: 'ok',
    success: true,
    rewards: [
      { name: 'right', value: 1, reason: 'it is' },
      { name: 'own', value: 1 },
    ],
  })
  expect((await post(`${at}/end`)).status).toBe(404)
  await ask()
  await post(`${at}/reward`, { name: 'right', value: null, reason: 'no judge' })
  expect((await post(`${at}/end`)).body).toMatchObject({ id: 's/1', status: 'masked', error: 'no judge' })
})

test('an idle session ends by itself, and one whose score fails is masked', async () => {
  const gateway = await open({
    models: [tiny(() => 'done<|im_end|>')],
    idleSeconds: 0.1,
    score: () => Promise.reject(new Error('the judge is away')),
  })
  await chat(gateway.url).create({ model: 'm', messages: [user('A?')] })
  await expect.poll(() => gateway.episodes.length, { timeout: 20_000 }).toBe(1)
  expect(gateway.episodes[0]).toMatchObject({
    status: 'masked',
    error: expect.stringContaining('the judge is away'),
  })
})

test('what a service answers goes to the client as it is, and its call into the episode, without the key', async () => {
  const service = await startService(({ path, body }, response) => {
    if (path === '/v1/chat/completions')
      return body['stream'] === true
        ? sendEvents(response, chatEvents(['It ', 'is ', key]))
        : sendJson(
            response,
            chatAnswer(null, [
              { id: 'c1', type: 'function', function: { name: 'price', arguments: '{"of":"tea"}' } },
            ]),
          )
    if (path === '/v1/responses') return sendJson(response, responseAnswer('Hello.'))
    if (path.startsWith('/v1/messages')) return sendEvents(response, messageEvents(['One ', 'moment.']))
    return sendJson(response, { object: 'list', data: [{ id: path }] })
  })
  const gateway = await open({ upstream: `${service.url}/v1` })
  const headers = { 'x-agoge-session': 'all' }
  const tools = [{ type: 'function' as const, function: { name: 'price', parameters: {} } }]
  const called = await chat(gateway.url, key, headers).create({
    model: 'gpt-x',
    messages: [user('Tea?')],
    tools,
  })
  expect(called).toEqual(chatAnswer(null, called.choices[0].message.tool_calls))
  let said = ''
  const stream = await chat(gateway.url, key, headers).create({
    model: 'gpt-x',
    messages: [user('Key?')],
    stream: true,
  })
  for await (const { choices } of stream) said += choices[0]?.delta.content ?? ''
  expect(said).toBe(`It is ${key}`)
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: `session-all:${key}` })
  expect((await client.responses.create({ model: 'gpt-x', input: 'Hi' })).output_text).toBe('Hello.')
  expect((await client.models.list()).data[0].id).toBe('/v1/models')
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: key, defaultHeaders: headers })
  const message = await anthropic.messages
    .stream({ model: 'claude-x', max_tokens: 9, messages: [user('Tea?')] })
    .finalMessage()
  expect(message.content).toMatchObject([{ text: 'One moment.' }, { name: 'price', input: { of: 'tea' } }])
  expect(
    service.received.map(({ headers: { authorization, ...sent } }) => authorization ?? sent['x-api-key']),
  ).toEqual([`Bearer ${key}`, `Bearer ${key}`, `Bearer ${key}`, `Bearer ${key}`, key])
  expect(service.received.some(({ headers: sent }) => 'x-agoge-session' in sent)).toBe(false)
  await gateway.close()
  const [episode] = gateway.episodes
  expect(episode).toMatchObject({
    id: 'all/0',
    status: 'ok',
    usage: { promptTokens: 27, sampledTokens: 11, calls: 2 },
  })
  const answers = episode.nodes.filter(({ role }) => role === 'assistant')
  expect(answers.map(({ text, calls = [] }) => [text, calls.map(({ arguments: given }) => given)])).toEqual([
    ['', [{ of: 'tea' }]],
    ['It is [redacted]', []],
    ['Hello.', []],
    ['One moment.', [{ of: 'tea' }]],
  ])
  expect(encodeEpisode(episode)).not.toContain(key)
})

test('a fault of the service keeps its status and masks, unless the same call is answered later', async () => {
  let asked = 0
  const service = await startService(({ body }, response) => {
    asked += 1
    const text = JSON.stringify(body['messages'])
    if (text.includes('cut')) return sendEvents(response, chatEvents(['half']).slice(0, 2), false)
    if (text.includes('long')) return sendJson(response, { error: { code: 'context_length_exceeded' } }, 400)
    if (text.includes('busy') && asked % 2 === 1)
      return sendJson(response, { error: { message: 'later' } }, 503)
    return sendJson(response, chatAnswer('yes'))
  })
  const gateway = await open({ upstream: service.url })
  const ask = (session: string, text: string, stream = false) =>
    chat(gateway.url, `session-${session}:${key}`).create({ model: 'm', messages: [user(text)], stream })
  await expect(ask('masked', 'busy')).rejects.toMatchObject({ status: 503 })
  await ask('masked', 'other')
  asked = 0
  await expect(ask('retried', 'busy')).rejects.toMatchObject({ status: 503 })
  await ask('retried', 'busy')
  await expect(ask('too-long', 'long')).rejects.toMatchObject({ status: 400 })
  const half = (await ask('cut', 'cut', true)) as unknown as AsyncIterable<unknown>
  const drain = async () => {
    for await (const _ of half);
  }
  await expect(drain()).rejects.toThrow()
  await gateway.close()
  const found = Object.fromEntries(gateway.episodes.map((episode) => [episode.group, episode]))
  expect(found['masked']).toMatchObject({ status: 'masked', error: expect.stringContaining('HTTP 503') })
  expect(found['retried']).toMatchObject({ status: 'ok', samples: [{ output: 1 }] })
  expect(found['too-long']).toMatchObject({ status: 'failed', ending: 'token-limit', success: false })
  expect(found['cut']).toMatchObject({ status: 'masked', ending: 'infrastructure' })
})

test('a service that cannot be reached is a 502 in the shape of the protocol', async () => {
  const gateway = await open({ upstream: 'http://127.0.0.1:9' })
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 })
  await expect(
    anthropic.messages.create({ model: 'm', max_tokens: 5, messages: [user('x')] }),
  ).rejects.toMatchObject({ status: 502, error: { error: { type: 'api_error' } } })
})

test('a connection that the service has closed meanwhile is no fault', async () => {
  const service = await startService((_, response) => sendJson(response, chatAnswer('yes')))
  const gateway = await open({ upstream: service.url })
  const ask = () => chat(gateway.url, `session-kept:${key}`).create({ model: 'm', messages: [user('x')] })
  await ask()
  // The second request comes over the kept connection, which is reset before it is answered.
  service.closeNext()
  await ask()
  await gateway.close()
  expect(gateway.episodes[0]).toMatchObject({ status: 'ok', samples: [{}, {}] })
})

test('a client that leaves ends the call, here and at the service', async () => {
  let isClosed = false
  const service = await startService((_, response) => {
    response.on('close', () => (isClosed = true))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${JSON.stringify(chatEvents(['x'])[1])}\n\n`)
  })
  const there = await open({ upstream: service.url })
  const leave = async (url: string, name: string): Promise<void> => {
    const stop = new AbortController()
    const asked = chat(url, `session-${name}:${key}`).create(
      { model: 'm', messages: [user('x')], stream: true },
      { signal: stop.signal },
    )
    asked.then(() => stop.abort()).catch(() => {})
    await sleep(300)
    stop.abort()
    await asked.catch(() => {})
  }
  await leave(there.url, 'left')
  await expect.poll(() => isClosed).toBe(true)
  await there.close()
  expect(there.episodes[0]).toMatchObject({ status: 'ok', samples: [] })
  const backend = saying(
    tokenizer,
    () => 'x',
    () => sleep(500),
  )
  const model = localGatewayModel({ name: 'tiny', backend, tokenizer, format, window: 2000 })
  const here = await open({ models: [model] })
  await leave(here.url, 'left')
  await expect.poll(() => backend.aborted).toBe(1)
})

test('a request that cannot be recorded is passed on, and masks its session', async () => {
  const service = await startService((_, response) => sendJson(response, responseAnswer('Found.')))
  const gateway = await open({ upstream: service.url })
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: `session-web:${key}` })
  const tools = [{ type: 'web_search' as const }]
  // Tools of the service itself are left out of the record, and spoil nothing.
  expect((await client.responses.create({ model: 'm', input: 'x', tools })).output_text).toBe('Found.')
  expect(service.received[0].body['tools']).toEqual(tools)
  await post(`${gateway.url}/agoge/sessions/web/end`)
  const input = [
    { type: 'message', role: 'robot', content: 'x' },
  ] as unknown as OpenAI.Responses.ResponseInput
  expect((await client.responses.create({ model: 'm', input })).output_text).toBe('Found.')
  await gateway.close()
  expect(gateway.episodes).toMatchObject([
    { status: 'ok' },
    { status: 'masked', error: expect.stringContaining('could not be recorded') },
  ])
  expect(gateway.notices).toHaveLength(1)
})

test('a service that gives token ids makes exact episodes: Agoge behind itself', async () => {
  const backend = saying(tokenizer, (prompt) =>
    prompt.includes('B?') ? 'bee<|im_end|>' : 'one two<|im_end|>',
  )
  const served = await serveOpenAI({ model: { name: 'tiny', backend, tokenizer, format, window: 2000 } })
  onTestFinished(() => served.close(0))
  const gateway = await open({ upstream: served.url, tokenIds: true })
  const ask = chat(gateway.url, `session-ids:${key}`)
  const messages: OpenAI.ChatCompletionMessageParam[] = [user('A?')]
  const { choices } = await ask.create({ model: 'tiny', messages })
  messages.push(choices[0].message, user('B?'))
  const stream = ask.stream({ model: 'tiny', messages })
  expect((await stream.finalChatCompletion()).choices[0].message.content).toBe('bee')
  await gateway.close()
  const [{ nodes, samples }] = gateway.episodes
  const tokensOf = (at: number) =>
    [...samples[at].path, samples[at].output].flatMap((id) => [...nodes[id].tokens])
  expect(tokenizer.decode(tokensOf(0))).toBe(
    '<|im_start|>user\nA?<|im_end|>\n<|im_start|>assistant\none two<|im_end|>',
  )
  expect(tokenizer.decode(tokensOf(1))).toBe(
    `${tokenizer.decode(tokensOf(0))}\n<|im_start|>user\nB?<|im_end|>\n<|im_start|>assistant\nbee<|im_end|>`,
  )
  expect(samples.map(({ path, trainable }) => [path.length, trainable])).toEqual([
    [1, true],
    [3, true],
  ])
  const drawn = samples[1].logprobs.filter((_, i) => samples[1].mask[i] === 1)
  expect([...drawn]).toEqual([...drawn].map(() => -0.5))
})

test('other machines need a key, websites are refused, and several models are asked by their names', async () => {
  const models = [tiny(() => 'a<|im_end|>'), { ...tiny(() => 'b<|im_end|>'), name: 'other' }]
  await expect(openGateway({ models, host: '0.0.0.0', onEpisode: () => {} })).rejects.toMatchObject({
    code: 'needs-key',
  })
  const gateway = await open({ models, key: 'gateway-key' })
  const ask = { model: 'other', messages: [user('A?')] }
  await expect(chat(gateway.url, 'wrong').create(ask)).rejects.toMatchObject({ status: 401 })
  expect((await chat(gateway.url, 'session-x:gateway-key').create(ask)).choices[0].message.content).toBe('b')
  await expect(chat(gateway.url, 'gateway-key').create({ ...ask, model: 'none' })).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  })
  const service = await startService((_, response) => sendJson(response, chatAnswer('yes')))
  const front = await open({ upstream: service.url, key: 'gateway-key' })
  await expect(chat(front.url, 'gateway-key').create(ask)).rejects.toMatchObject({ status: 401 })
  await chat(front.url, key, { 'x-agoge-key': 'gateway-key' }).create(ask)
  expect(service.received[0].headers).not.toHaveProperty('x-agoge-key')
})
