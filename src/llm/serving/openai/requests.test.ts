import { request as ask } from 'node:http'
import { expect, test } from 'vitest'
import { saying } from '../../agent/testing/saying.ts'
import { serveOpenAI } from './serve.ts'
import { hi, post, servedModel, start, tokenizer } from './testing/serve-model.ts'

const classes = [Response, Request]

test('mistakes are answered in the shape of the protocol, by field', async () => {
  const { client, url } = await start(servedModel(saying(tokenizer, () => 'x<|im_end|>')), {
    mostBytes: 2000,
  })
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
  const { url } = await start(servedModel(saying(tokenizer, () => 'x<|im_end|>')))
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

test('a model name may contain a slash, a trailing slash is ignored, unreadable requests are refused', async () => {
  const { url } = await start({ ...servedModel(saying(tokenizer, () => 'x')), name: 'my org/tiny' })
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
  await expect(serveOpenAI({ model: servedModel(backend), host: '0.0.0.0' })).rejects.toMatchObject({
    code: 'needs-key',
  })
  const { url, client } = await start(servedModel(backend), { key: 'sesame' })
  expect((await post(url, { messages: hi })).status).toBe(401)
  expect((await post(url, { messages: hi }, { authorization: 'Bearer open' })).status).toBe(401)
  expect((await client.chat.completions.create({ model: 'tiny', messages: hi })).choices.length).toBe(1)
  const port = Number(new URL(url).port)
  await expect(serveOpenAI({ model: servedModel(backend), port })).rejects.toMatchObject({
    code: 'port-taken',
  })
})

test('a prompt that cannot fit is refused before it is tokenised', async () => {
  const { client } = await start(servedModel(saying(tokenizer, () => 'x<|im_end|>')))
  const long = 'lorem ipsum '.repeat(85_000)
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

test('a field of a wrong type is not taken for a missing one', async () => {
  const { url } = await start(servedModel(saying(tokenizer, () => 'x<|im_end|>')))
  const paramOf = async (fields: object) => {
    const response = await post(url, { messages: hi, ...fields })
    return [response.status, ((await response.json()) as { error: { param: string } }).error.param]
  }
  const said = (fields: object) => ({ messages: [{ role: 'assistant', content: '', ...fields }] })
  const tool = (fields: object) => ({ tools: [{ type: 'function', function: { name: 'f', ...fields } }] })
  const call = { type: 'function', function: { name: 'f', arguments: '{}' } }
  const cases: [object, string][] = [
    [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
    [{ stream_options: true }, 'stream_options'],
    [{ stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
    [said({ reasoning_content: 5 }), 'messages[0].reasoning_content'],
    [said({ tool_calls: {} }), 'messages[0].tool_calls'],
    [said({ tool_calls: [{ ...call, id: 5 }] }), 'messages[0].tool_calls[0].id'],
    [tool({ description: [] }), 'tools[0].function.description'],
    [tool({ parameters: 'x' }), 'tools[0].function.parameters'],
  ]
  for (const [fields, param] of cases) expect(await paramOf(fields)).toEqual([400, param])
})

test('what would take long to read is refused, and errors are short', async () => {
  const { url } = await start(servedModel(saying(tokenizer, () => 'x<|im_end|>')))
  const answerOf = async (asked: Promise<Response>) => {
    const response = await asked
    const text = await response.text()
    expect(text.length).toBeLessThan(1500)
    return [response.status, (JSON.parse(text) as { error: unknown }).error]
  }
  const many = (value: unknown) => Array.from({ length: 200_000 }, () => value)
  for (const value of [{}, '', 1])
    expect(await answerOf(post(url, { messages: hi, metadata: many(value) }))).toMatchObject([
      400,
      { code: 'invalid_json', message: expect.stringContaining('too many') as unknown },
    ])
  const call = (depth: number) => ({
    id: 'c',
    type: 'function',
    function: { name: 'f', arguments: `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}` },
  })
  for (const depth of [300, 100_000])
    expect(
      await answerOf(post(url, { messages: [{ role: 'assistant', tool_calls: [call(depth)] }] })),
    ).toMatchObject([400, { param: 'messages[0].tool_calls[0].function.arguments' }])
  const long = { ...call(1), function: { name: 'f', arguments: `{"a":"${'x'.repeat(6e5)}"}` } }
  expect(await answerOf(post(url, { messages: [{ role: 'assistant', tool_calls: [long] }] }))).toMatchObject([
    400,
    { param: 'messages[0].tool_calls[0].function.arguments' },
  ])
  expect(await answerOf(post(url, { messages: hi, model: 'x'.repeat(1e6) }))).toMatchObject([
    404,
    { param: 'model' },
  ])
  expect(await answerOf(fetch(`${url}/${'x'.repeat(8000)}`))).toMatchObject([404, { code: 'unknown_url' }])
  const prompts = Array.from({ length: 100 }, () => 'a')
  const completing = fetch(`${url}/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: prompts, n: 100 }),
  })
  expect(await answerOf(completing)).toMatchObject([400, { param: 'n' }])
})

test('a client that sends more than it may still gets the answer', async () => {
  const { url } = await start(servedModel(saying(tokenizer, () => 'x<|im_end|>')), { mostBytes: 2000 })
  const { port } = new URL(url)
  const status = await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const sent = ask({ port, path: '/v1/chat/completions', method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    // All of it is written before the answer is read.
    for (let i = 0; i < 300; i++) sent.write('x'.repeat(65_536))
    sent.end()
  })
  expect(status).toBe(413)
})
