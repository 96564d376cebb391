import type OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { readChatFormat } from '../../agent/chat-format/open-format.ts'
import { saying } from '../../agent/testing/saying.ts'
import { loadModel } from '../../backend/base-model.ts'
import { hi, servedModel, start, tokenizer } from './testing/serve-model.ts'

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
  const { client } = await start(servedModel(backend))
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
  const { client } = await start(servedModel(saying(tokenizer, () => `<think>\nhm\n</think>\n\n${called}`)))
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
    servedModel(saying(tokenizer, (prompt) => (prompt.includes('read_file') ? 'no' : called))),
  )
  const ask = { model: 'tiny', messages: hi, tools, tool_choice: 'none' as const }
  const [choice] = (await client.chat.completions.create(ask)).choices
  expect([choice.message.content, choice.message.tool_calls]).toEqual(['I look.', undefined])
  expect(choice.finish_reason).toBe('stop')
})

test('only offered tools are called, where no grammar can hold the model to it', async () => {
  const { client } = await start(servedModel(saying(tokenizer, () => called)))
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
  onTestFinished(() => backend.dispose())
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
  const messages = [
    { role: 'user' as const, content: 'List all orders and tell me the city of the order with the id 4' },
  ]
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
})

test('text completions of texts and ids, echoed, streamed, ended by a text', async () => {
  const { client } = await start(servedModel(saying(tokenizer, () => 'one two three<|im_end|>')))
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

test('a base model without a template completes texts and refuses chats with a reason', async () => {
  const { format: _, ...base } = servedModel(saying(tokenizer, () => 'x'))
  const { client } = await start(base)
  await expect(client.chat.completions.create({ model: 'tiny', messages: hi })).rejects.toMatchObject({
    code: 'no_chat_template',
  })
  expect((await client.completions.create({ model: 'tiny', prompt: 'a' })).choices[0].text).toBe('x')
})
