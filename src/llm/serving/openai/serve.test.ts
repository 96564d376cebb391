import { request as ask } from 'node:http'
import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'
import { createTemplateFormat } from '../../agent/chat-format/template-format.ts'
import { readChatFormat } from '../../agent/chat-format/open-format.ts'
import { tinyTemplate, tinyTokenizer } from '../../agent/testing/tiny-checkpoint.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { loadModel } from '../../backend/base-model.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { serveOpenAI } from './serve.ts'
import type { ServedModel } from './generate.ts'
import type { ServeOptions } from './serve.ts'
import { saying } from '../../agent/testing/saying.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })
const model = (backend: ServedModel['backend']): ServedModel => ({
  name: 'tiny',
  backend,
  tokenizer,
  format,
  window: 1000,
})

async function start(
  served: ServedModel,
  options: Partial<ServeOptions> = {},
): Promise<{ client: OpenAI; url: string }> {
  const { url, close } = await serveOpenAI({ model: served, ...options })
  closing.push(() => close(0))
  return { url, client: new OpenAI({ baseURL: url, apiKey: options.key ?? 'none', maxRetries: 0 }) }
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

/** Allows for a busy machine. */
const patient = { timeout: 600_000 }
const hi = [{ role: 'user' as const, content: 'Hi' }]
const tools = [
  {
    type: 'function' as const,
    function: { name: 'read_file', parameters: { type: 'object', properties: {} } },
  },
]
const called =
  'I look.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "/ü"}}\n</tool_call><|im_end|>'

test('the openai client: a conversation with a tool, its answer, usage and token ids', async () => {
  const backend = saying(tokenizer, (prompt) =>
    prompt.includes('tool_response') ? '<think>\nso\n</think>\n\nIt is ü.<|im_end|>' : called,
  )
  const { client } = await start(model(backend))
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['tiny'])
  const first = await client.chat.completions.create({ model: 'tiny', messages: hi, tools })
  const [choice] = first.choices
  expect(choice.finish_reason).toBe('tool_calls')
  expect(choice.message.content).toBe('I look.')
  const [call] = choice.message.tool_calls!
  expect(call).toMatchObject({
    type: 'function',
    function: { name: 'read_file', arguments: '{"path":"/ü"}' },
  })
  const second = (await client.chat.completions.create({
    model: 'tiny',
    messages: [...hi, choice.message, { role: 'tool', tool_call_id: call.id, content: 'ü' }],
    tools,
    logprobs: true,
    // A field of vLLM that the client's types do not have.
    ...({ return_token_ids: true } as object),
  })) as OpenAI.ChatCompletion & { prompt_token_ids: number[]; weight_version: number }
  expect(second.choices[0].message).toMatchObject({ content: 'It is ü.', reasoning_content: 'so' })
  const { token_ids: ids, logprobs } = second.choices[0] as unknown as {
    token_ids: number[]
    logprobs: { content: { token: string; logprob: number; bytes: number[] }[] }
  }
  expect(tokenizer.decode(ids)).toBe('<think>\nso\n</think>\n\nIt is ü.<|im_end|>')
  expect(logprobs.content.map(({ token }) => token).length).toBe(ids.length)
  expect(Buffer.from(logprobs.content.flatMap(({ bytes }) => bytes)).toString()).toBe(tokenizer.decode(ids))
  expect(second.usage).toEqual({
    prompt_tokens: second.prompt_token_ids.length,
    completion_tokens: ids.length,
    total_tokens: ids.length + second.prompt_token_ids.length,
  })
  expect(tokenizer.decode(second.prompt_token_ids)).toContain('<tool_response>\nü\n</tool_response>')
  expect(second.weight_version).toBe(3)
})

test('with the openai client, a streamed answer equals the whole answer', async () => {
  const { client } = await start(model(saying(tokenizer, () => `<think>\nhm\n</think>\n\n${called}`)))
  const stream = await client.chat.completions.create({
    model: 'tiny',
    messages: hi,
    tools,
    n: 2,
    logprobs: true,
    stream: true,
    stream_options: { include_usage: true },
    ...({ return_token_ids: true } as object),
  })
  const ids: number[] = []
  let [text, reasoning, call, finish, tokens, scored] = ['', '', '', '', 0, 0]
  for await (const { choices, usage } of stream) {
    tokens += usage?.completion_tokens ?? 0
    const choice = choices.find(({ index }) => index === 1)
    if (choice === undefined) continue
    text += choice.delta.content ?? ''
    reasoning += (choice.delta as { reasoning_content?: string }).reasoning_content ?? ''
    call +=
      choice.delta.tool_calls?.map((one) => `${one.function?.name}${one.function?.arguments}`).join() ?? ''
    finish += choice.finish_reason ?? ''
    ids.push(...((choice as { token_ids?: number[] }).token_ids ?? []))
    scored += choice.logprobs?.content?.length ?? 0
  }
  expect([text, reasoning, call, finish]).toEqual(['I look.', 'hm', 'read_file{"path":"/ü"}', 'tool_calls'])
  expect(tokenizer.decode(ids)).toBe(`<think>\nhm\n</think>\n\n${called}`)
  expect([tokens, scored]).toEqual([ids.length * 2, ids.length])
})

test('without tools no output is parsed as a call', async () => {
  const { client } = await start(
    model(saying(tokenizer, (prompt) => (prompt.includes('read_file') ? 'no' : called))),
  )
  const ask = { model: 'tiny', messages: hi, tools, tool_choice: 'none' as const }
  const [choice] = (await client.chat.completions.create(ask)).choices
  expect([choice.message.content, choice.message.tool_calls]).toEqual(['I look.', undefined])
  expect(choice.finish_reason).toBe('stop')
})

test('only offered tools are called, where no grammar can hold the model to it', async () => {
  const { client } = await start(model(saying(tokenizer, () => called)))
  const other = [{ ...tools[0], function: { ...tools[0].function, name: 'get_weather' } }]
  for (const choice of ['auto', 'none'] as const) {
    const ask = { model: 'tiny', messages: hi, tools: other, tool_choice: choice }
    const whole = (await client.chat.completions.create(ask)).choices[0]
    expect(whole).toMatchObject({ finish_reason: 'stop', message: { content: 'I look.' } })
    expect(whole.message.tool_calls).toBeUndefined()
    let streamed = ''
    for await (const { choices } of await client.chat.completions.create({ ...ask, stream: true })) {
      streamed += choices[0].delta.content ?? ''
      expect(choices[0].delta.tool_calls).toBeUndefined()
    }
    expect(streamed).toBe('I look.')
  }
})

test('the embedded model calls only offered tools, and reports that it reads no definitions', async () => {
  const { backend, tokenizer, folder } = await loadModel()
  closing.push(() => backend.dispose())
  const format = await readChatFormat(folder, tokenizer)
  const window = backend.config.max_position_embeddings
  const { client, url } = await start({ name: 'tiny', backend, tokenizer, format, window })
  const listed = { data: [{ id: 'tiny', reads_tool_definitions: false }] }
  expect(await (await fetch(`${url}/models`)).json()).toMatchObject(listed)
  const weather = { type: 'object', properties: { city: { type: 'string' } } }
  const offered = ['get_weather', 'get_time'].map((name) => ({
    type: 'function' as const,
    function: { name, parameters: weather },
  }))
  const named = { type: 'function', function: { name: 'get_time' } } as const
  const messages = [{ role: 'user' as const, content: 'Delete /docs/a.txt and read the file /docs/b.txt' }]
  const called: Record<string, string[]> = {}
  for (const choice of ['none', 'auto', 'required', named] as const) {
    const ask = {
      model: 'tiny',
      messages,
      tools: offered,
      tool_choice: choice,
      n: 16,
      seed: 3,
      max_tokens: 60,
      temperature: 1.5,
    }
    const { choices } = await client.chat.completions.create(ask)
    const names = choices.flatMap(({ message }) =>
      (message.tool_calls ?? []).map((call) => ('function' in call ? call.function.name : '')),
    )
    for (const { message } of choices) expect(message.content ?? '').not.toMatch(/<\||"arguments"/)
    const streamed: string[] = []
    let text = ''
    for await (const { choices: deltas } of await client.chat.completions.create({ ...ask, stream: true })) {
      for (const { delta } of deltas) {
        streamed.push(...(delta.tool_calls ?? []).map((call) => call.function?.name ?? ''))
        text += delta.content ?? ''
      }
    }
    expect(text).not.toMatch(/<\||"arguments"/)
    expect(streamed.toSorted()).toEqual(names.toSorted())
    called[typeof choice === 'string' ? choice : 'named'] = names
  }
  expect(called['none']).toEqual([])
  expect(new Set(called['named'])).toEqual(new Set(['get_time']))
  for (const name of [...called['auto'], ...called['required']])
    expect(['get_weather', 'get_time']).toContain(name)
  expect(called['required'].length).toBeGreaterThanOrEqual(16)
  expect(called['auto'].length).toBeGreaterThan(0)
}, 120_000)

test('text completions of texts and ids, echoed, streamed, ended by a text', async () => {
  const { client } = await start(model(saying(tokenizer, () => 'one two three<|im_end|>')))
  const whole = await client.completions.create({
    model: 'tiny',
    prompt: ['a', 'b'],
    n: 2,
    echo: true,
    logprobs: 0,
  })
  expect(whole.choices.map(({ text }) => text)).toEqual([
    'aone two three',
    'aone two three',
    'bone two three',
    'bone two three',
  ])
  expect(whole.choices[0].logprobs?.tokens?.join('')).toBe('one two three<|im_end|>')
  const cut = await client.completions.create({ model: 'tiny', prompt: [1, 2], stop: 'two' })
  expect(cut.choices[0].text).toBe('one ')
  const pieces: string[] = []
  for await (const { choices } of await client.completions.create({
    model: 'tiny',
    prompt: 'a',
    stop: 'hre',
    stream: true,
  }))
    pieces.push(choices[0].text)
  expect(pieces.join('')).toBe('one two t')
  expect(pieces.length).toBeGreaterThan(2)
})

test('mistakes are answered in the shape of the protocol, by field', async () => {
  const { client, url } = await start(model(saying(tokenizer, () => 'x<|im_end|>')), { mostBytes: 2000 })
  const ask = (fields: object) => client.chat.completions.create({ model: 'tiny', messages: hi, ...fields })
  await expect(ask({ model: 'other' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' })
  await expect(ask({ temperature: 'warm' })).rejects.toMatchObject({ status: 400, param: 'temperature' })
  await expect(ask({ top_p: 0 })).rejects.toMatchObject({ param: 'top_p' })
  await expect(ask({ messages: [] })).rejects.toMatchObject({ param: 'messages' })
  await expect(ask({ messages: [{ role: 'robot', content: '' }] })).rejects.toMatchObject({
    param: 'messages[0].role',
  })
  await expect(ask({ presence_penalty: 1 })).rejects.toMatchObject({ param: 'presence_penalty' })
  await expect(ask({ tool_choice: 'required' })).rejects.toMatchObject({ param: 'tool_choice' })
  const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }]
  await expect(ask({ messages: image })).rejects.toMatchObject({ param: 'messages[0].content[0]' })
  await expect(ask({ messages: [{ role: 'user', content: 'x'.repeat(1500) }] })).rejects.toMatchObject({
    code: 'context_length_exceeded',
  })
  await expect(ask({ messages: [{ role: 'user', content: 'x'.repeat(3000) }] })).rejects.toMatchObject({
    status: 413,
  })
  expect((await post(url, '{')).status).toBe(400)
  expect((await post(url, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await fetch(`${url}/nothing`)).status).toBe(404)
  expect((await fetch(`${url}/completions`)).status).toBe(405)
  // The server still answers.
  expect((await ask({})).choices[0].message.content).toBe('x')
})

test('nesting without end, inherited names of roles, and ids beyond 32 bits are mistakes of the request', async () => {
  const { url } = await start(model(saying(tokenizer, () => 'x<|im_end|>')))
  const errorOf = async (asked: Promise<Response>) => {
    const response = await asked
    return [response.status, ((await response.json()) as { error: unknown }).error]
  }
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  for (const fields of [
    `"messages":[{"role":"user","content":${deep}}]`,
    `"messages":${deep}`,
    `"stop":${deep}`,
  ])
    expect(await errorOf(post(url, `{${fields}}`))).toMatchObject([400, { code: 'invalid_json' }])
  for (const role of ['constructor', '__proto__', ['user']])
    expect(await errorOf(post(url, { messages: [{ role, content: '' }] }))).toMatchObject([
      400,
      { param: 'messages[0].role' },
    ])
  const complete = (prompt: unknown) =>
    fetch(`${url}/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt, max_tokens: 1 }),
    })
  for (const prompt of [[4294967301], [[5, 4294967301]], [-4294967291]])
    expect(await errorOf(complete(prompt))).toMatchObject([400, { param: 'prompt' }])
})

test('a base model without a template completes texts and refuses chats with a reason', async () => {
  const { format: _, ...base } = model(saying(tokenizer, () => 'x'))
  const { client } = await start(base)
  await expect(client.chat.completions.create({ model: 'tiny', messages: hi })).rejects.toMatchObject({
    code: 'no_chat_template',
  })
  expect((await client.completions.create({ model: 'tiny', prompt: 'a' })).choices[0].text).toBe('x')
})

const classes = [Response, Request]

test('a model name may contain a slash, a trailing slash is ignored, unreadable requests are refused', async () => {
  const { url } = await start({ ...model(saying(tokenizer, () => 'x')), name: 'my org/tiny' })
  const { hostname, port } = new URL(url)
  // Sent unchanged: fetch would correct some of them.
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = ask({ hostname, port, path, headers }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode))
      })
      sent.on('error', reject).end()
    })
  for (const path of ['/v1/models/', '/v1/models/my%20org%2Ftiny', '/v1/models?limit=1'])
    expect([path, await get(path)]).toEqual([path, 200])
  expect(await get('/v1/models/tiny')).toBe(404)
  expect(await get('/v1/models', { host: 'evil.example' })).toBe(403)
  expect(await get('/v1/models', { host: 'a b' })).toBe(400)
  expect(await get('*')).toBe(400)
  // This process keeps its own classes.
  expect([Response, Request]).toEqual(classes)
})

test('only with the key, and to others only then', async () => {
  const backend = saying(tokenizer, () => 'x<|im_end|>')
  await expect(serveOpenAI({ model: model(backend), host: '0.0.0.0' })).rejects.toMatchObject({
    code: 'needs-key',
  })
  const { url, client } = await start(model(backend), { key: 'sesame' })
  expect((await post(url, { messages: hi })).status).toBe(401)
  expect((await post(url, { messages: hi }, { authorization: 'Bearer open' })).status).toBe(401)
  expect((await client.chat.completions.create({ model: 'tiny', messages: hi })).choices.length).toBe(1)
  const port = Number(new URL(url).port)
  await expect(serveOpenAI({ model: model(backend), port })).rejects.toMatchObject({ code: 'port-taken' })
})

test('requests that come while the model is busy make one batch; too many are sent away', async () => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const backend = saying(
    tokenizer,
    () => 'x<|im_end|>',
    () => gate,
  )
  const { client } = await start(model(backend), { mostRows: 6 })
  const ask = () => client.chat.completions.create({ model: 'tiny', messages: hi })
  const first = ask()
  await expect.poll(() => backend.batches.length, patient).toBe(1)
  // It is random which of them is refused.
  const refused: number[] = []
  const others = Array.from({ length: 6 }, () =>
    ask().catch(({ status }: { status: number }) => refused.push(status)),
  )
  await expect.poll(() => refused, patient).toEqual([429])
  open()
  await Promise.all([first, ...others])
  expect(backend.batches).toEqual([1, 5])
})

test('sampling stops when a client disconnects, and closing aborts unfinished requests', async () => {
  let open = (): void => {}
  const gate = () =>
    new Promise<void>((resolve) => {
      open = resolve
    })
  const backend = saying(tokenizer, () => 'x<|im_end|>', gate)
  let answered = 0
  const { url, close } = await serveOpenAI({ model: model(backend), onRequest: () => answered++ })
  const controller = new AbortController()
  const asked = fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: hi }),
    signal: controller.signal,
  }).catch(() => 'gone')
  await expect.poll(() => backend.batches.length, patient).toBe(1)
  controller.abort()
  expect(await asked).toBe('gone')
  await expect.poll(() => answered, patient).toBe(1)
  open()
  await expect.poll(() => backend.aborted, patient).toBe(1)
  const waiting = post(url, { messages: hi }).then(({ status }) => status)
  await expect.poll(() => backend.batches.length, patient).toBe(2)
  const closed = close(0.05)
  await new Promise((resolve) => setTimeout(resolve, 100))
  open()
  expect(await waiting).toBe(503)
  await closed
  await expect(post(url, { messages: hi })).rejects.toThrow()
})

test('while a grammar that explodes is compiled others are answered; it ends with the limit that it exceeded', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 300 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  closing.push(() => backend.dispose())
  const { client, url } = await start({ ...model(backend), window: 300 })
  const formatOf = (schema: Record<string, unknown>) => ({
    type: 'json_schema' as const,
    json_schema: { name: 'x', schema },
  })
  const allOf = Array.from({ length: 12 }, (_, i) => ({
    type: 'string',
    pattern: `^(a|b)*a(a|b){${i + 4}}$`,
  }))
  const ask = (schema: Record<string, unknown>, stream = false) =>
    post(url, { messages: hi, max_tokens: 40, stream, response_format: formatOf(schema) })
  // Grammars are compiled in turn: the second of these waits for the first.
  const done: string[] = []
  const bombs = Array.from({ length: 2 }, (_, i) =>
    ask({ allOf, title: String(i) }).finally(() => done.push('bomb')),
  )
  await client.chat.completions.create({ model: 'tiny', messages: hi, max_tokens: 1 })
  done.push('answer')
  const exploding = bombs[0]
  await Promise.all(bombs)
  expect(done.indexOf('answer')).toBeLessThan(2)
  const message = expect.stringMatching(/too large: expected at most \d+ steps to compile it/)
  expect([(await exploding).status, await (await exploding).json()]).toMatchObject([
    400,
    { error: { code: 'invalid_value', message } },
  ])
  // Patterns that grow only after a row has started.
  const later = allOf.map(({ pattern }) => ({
    type: 'string',
    pattern: pattern.replace('^', '^(c|b').replace('$', ')$'),
  }))
  for (const stream of [false, true]) {
    const response = await ask({ allOf: later }, stream)
    expect(await response.text()).toContain('to find the next token')
    // A started stream ends with the error.
    if (!stream) expect(response.status).toBe(400)
  }
  const listed = await client.chat.completions.create({
    model: 'tiny',
    messages: hi,
    response_format: formatOf({ enum: Array.from({ length: 20_000 }, (_, i) => `item ${i}`) }),
  })
  expect(listed.choices[0].message.content).toMatch(/^"item \d+"$/)
}, 120_000)

test('a prompt that cannot fit is refused before it is tokenised', async () => {
  const { client } = await start(model(saying(tokenizer, () => 'x<|im_end|>')))
  const long = 'lorem ipsum '.repeat(500_000)
  const expected = {
    code: 'context_length_exceeded',
    message: expect.stringContaining('more than 999 tokens'),
  }
  const ask = (content: string) =>
    client.chat.completions.create({ model: 'tiny', messages: [{ role: 'user', content }] })
  await expect(ask(long)).rejects.toMatchObject(expected)
  await expect(ask('lorem ipsum '.repeat(900))).rejects.toMatchObject(expected)
  await expect(client.completions.create({ model: 'tiny', prompt: long })).rejects.toMatchObject(expected)
  const many = client.completions.create({ model: 'tiny', prompt: Array.from({ length: 300 }, () => 'a') })
  await expect(many).rejects.toMatchObject({ status: 400, param: 'prompt' })
})

test('a real model: seeds repeat, log-probabilities are those of the model, options hold', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 600 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  closing.push(() => backend.dispose())
  const { client } = await start({ ...model(backend), window: config.max_position_embeddings })
  const ask = async (fields: object) => {
    const { choices, ...rest } = await client.chat.completions.create({
      model: 'tiny',
      messages: hi,
      max_tokens: 12,
      logprobs: true,
      top_logprobs: 3,
      ...({ return_token_ids: true } as object),
      ...fields,
    })
    return { ...rest, choices } as unknown as {
      prompt_token_ids: number[]
      choices: {
        token_ids: number[]
        logprobs: { content: { logprob: number; top_logprobs: { logprob: number }[] }[] }
      }[]
    }
  }
  const drawn = await ask({ seed: 5, n: 2 })
  const again = await ask({ seed: 5, n: 2 })
  expect(again.choices.map((choice) => choice.token_ids)).toEqual(
    drawn.choices.map((choice) => choice.token_ids),
  )
  expect(drawn.choices[0].token_ids).not.toEqual(drawn.choices[1].token_ids)
  expect((await ask({ seed: 6 })).choices[0].token_ids).not.toEqual(drawn.choices[0].token_ids)
  const [{ token_ids: ids, logprobs }] = drawn.choices
  const [scored] = await backend.forward([Int32Array.from([...drawn.prompt_token_ids, ...ids])])
  const expected = scored.subarray(drawn.prompt_token_ids.length)
  logprobs.content.forEach(({ logprob, top_logprobs: top }, i) => {
    expect(Math.abs(logprob - expected[i])).toBeLessThan(1e-4)
    expect(top.length).toBe(3)
    expect(top[0].logprob).toBeGreaterThanOrEqual(top[2].logprob)
  })
  const greedy = await ask({ temperature: 0, top_logprobs: 1 })
  // The most likely token may have no text, such as the start of a call.
  for (const { logprob, top_logprobs: top } of greedy.choices[0].logprobs.content)
    expect(logprob).toBeLessThan(top[0].logprob + 1e-5)
  const completed = await client.completions.create({
    model: 'tiny',
    prompt: 'Hi',
    temperature: 0,
    logprobs: 1,
  })
  const { token_logprobs: likely = [], top_logprobs: tops = [] } = completed.choices[0].logprobs ?? {}
  expect(likely.length).toBeGreaterThan(0)
  likely.forEach((logprob, i) => expect(logprob).toBeCloseTo(Math.max(...Object.values(tops[i])), 5))
  expect((await ask({ seed: 9, top_k: 1, top_logprobs: 0 })).choices[0].token_ids).toEqual(
    greedy.choices[0].token_ids,
  )
  // An untrained model emits only what the grammar allows.
  const parameters = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['n'],
  }
  const two = ['a', 'b'].map((name) => ({ type: 'function' as const, function: { name, parameters } }))
  const create = (fields: object) =>
    client.chat.completions.create({
      model: 'tiny',
      messages: [{ role: 'user', content: '' }],
      seed: 3,
      ...fields,
    })
  const choice = { type: 'function', function: { name: 'b' } }
  const [forced] = ((await create({ tools: two, tool_choice: choice })) as OpenAI.ChatCompletion).choices
  expect(forced.message.tool_calls?.[0]).toMatchObject({ function: { name: 'b' } })
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: parameters } }
  const [formed, bad] = await Promise.all([
    create({ response_format }) as Promise<OpenAI.ChatCompletion>,
    create({ response_format: { type: 'json_schema', json_schema: { schema: { not: {} } } } }).catch(
      ({ status }) => status,
    ),
  ])
  expect(JSON.parse(formed.choices[0].message.content ?? '')).toEqual({ n: expect.any(Number) })
  expect(bad).toBe(400)
})

test(
  'tokens without text, which models with more rows than tokens draw, have no bytes, and are read again',
  patient,
  async () => {
    const config = {
      ...tinyConfig,
      vocab_size: tokenizer.vocabularySize + 2000,
      max_position_embeddings: 200,
    }
    const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
    closing.push(() => backend.dispose())
    const { client } = await start({ ...model(backend), window: 200 })
    const asked = { model: 'tiny', seed: 1, max_tokens: 8, logprobs: 2 }
    const said = await client.completions.create({ ...asked, prompt: 'Hi' })
    const [{ text, logprobs }] = said.choices
    expect(logprobs?.tokens?.join('')).toBe(text)
    expect(logprobs?.tokens?.filter((token) => token === '').length).toBeGreaterThan(0)
    const last = config.vocab_size - 1
    expect((await client.completions.create({ ...asked, prompt: [last, 5] })).choices.length).toBe(1)
    await expect(client.completions.create({ ...asked, prompt: [last + 1] })).rejects.toMatchObject({
      status: 400,
    })
    const chat = await client.chat.completions.create({
      model: 'tiny',
      messages: hi,
      seed: 1,
      max_tokens: 8,
      logprobs: true,
      top_logprobs: 3,
    })
    const entries = chat.choices[0].logprobs?.content ?? []
    // Chats are limited to text, so these tokens are likely but never drawn.
    expect(entries.filter(({ token }) => token === '')).toEqual([])
    const zeroVariance = entries
      .flatMap(({ top_logprobs: likely }) => likely)
      .filter(({ token }) => token === '')
    expect(zeroVariance.length).toBeGreaterThan(0)
    for (const { bytes } of zeroVariance) expect(bytes).toEqual([])
  },
)
