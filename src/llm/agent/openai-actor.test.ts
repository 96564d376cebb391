import { expect, test } from 'vitest'
import { toMessages } from './chat-completions.ts'
import { endpointUrl, type OpenAIActorOptions } from './openai-actor.ts'
import { actWith, completion, nodesOf } from './testing/endpoint.ts'

test('an answer is returned, and the request has the expected fields', async () => {
  const { act, asked } = await actWith([completion({ content: 'Nothing.' })], {
    temperature: 0,
    maxTokensPerTurn: 99,
    seed: 1,
  })
  expect(act).toMatchObject({
    text: 'Nothing.',
    calls: [],
    finish: 'stop',
    promptTokens: 12,
    sampledTokens: 5,
  })
  expect(asked[0].url).toBe('/v1/chat/completions')
  expect(asked[0].headers.authorization).toBe('Bearer sk-secret')
  expect(asked[0].body).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'What is in /a?' }],
    tools: [
      { type: 'function', function: { name: 'read', description: 'Reads.', parameters: { type: 'object' } } },
    ],
    temperature: 0,
    max_tokens: 99,
    seed: 1,
  })
})

test('native calls, several in a turn, damaged arguments mended', async () => {
  const calls = ['{"path":"/a"}', "{'path': '/b',}", ''].map((text, i) => ({
    id: `x${i}`,
    type: 'function',
    function: { name: 'read', arguments: text },
  }))
  const { act } = await actWith([completion({ content: null, tool_calls: calls }, 'tool_calls')])
  expect(act).toMatchObject({
    text: '',
    calls: [
      { id: '1.0', name: 'read', arguments: { path: '/a' } },
      { id: '1.1', name: 'read', arguments: { path: '/b' } },
      { id: '1.2', name: 'read', arguments: {} },
    ],
  })
})

test('calls written as text, calls beyond repair, outputs cut off', async () => {
  const text = await actWith([
    completion({ content: '<tool_call>{"name":"read","arguments":{"path":"/a"}}</tool_call>' }),
  ])
  expect(text.act).toMatchObject({ calls: [{ name: 'read', arguments: { path: '/a' } }] })
  const bad = { id: 'x', type: 'function', function: { name: 'read', arguments: 'the file' } }
  expect((await actWith([completion({ content: null, tool_calls: [bad] })])).act).toMatchObject({
    calls: [],
    text: 'read(the file)',
    invalid: 'the arguments are not a JSON object',
  })
  expect((await actWith([completion({ content: 'I th' }, 'length')])).act).toMatchObject({ finish: 'length' })
})

test('a conversation goes back with every call answered', () => {
  const calls = [
    { id: '0.0', name: 'a', arguments: { x: 1 } },
    { id: '0.1', name: 'b', arguments: {} },
  ]
  const nodes = nodesOf(
    { role: 'system', text: 'Be brief.' },
    { text: 'Go.' },
    { role: 'assistant', calls },
    { role: 'tool', text: 'one', callId: '0.0' },
    { role: 'tool', text: 'two', callId: '0.1' },
    { role: 'assistant', text: '{"name":', invalid: 'the call is not JSON' },
    { role: 'tool', text: 'error: the call is not JSON', callId: '2.0' },
  )
  expect(toMessages(nodes)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Go.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'call_0_0', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
        { id: 'call_0_1', type: 'function', function: { name: 'b', arguments: '{}' } },
      ],
    },
    { role: 'tool', content: 'one', tool_call_id: 'call_0_0' },
    { role: 'tool', content: 'two', tool_call_id: 'call_0_1' },
    { role: 'assistant', content: '{"name":' },
    { role: 'user', content: 'error: the call is not JSON' },
  ])
})

test('only given settings are sent, and refusals about other fields are errors', async () => {
  const { asked } = await actWith([completion({ content: 'ok' })])
  expect(Object.keys(asked[0].body)).toEqual(['model', 'messages', 'tools'])
  for (const body of [
    { error: { message: 'tools: temperature is no schema', param: 'tools[0]' } },
    { error: { message: 'Unsupported parameter: top_p', param: null } },
  ])
    await expect(actWith([{ status: 400, body }], { temperature: 1 })).rejects.toMatchObject({
      code: 'model-endpoint-refused',
    })
})

test('any number of seconds is a deadline: fractions of a millisecond, and more than a timer holds', async () => {
  for (const timeoutSeconds of [0.9876, 3_000_000, Infinity])
    expect((await actWith([completion({ content: 'ok' })], { timeoutSeconds })).act).toMatchObject({
      text: 'ok',
    })
})

test('content in parts is read; an answer in which the provider broke is none', async () => {
  const content = [
    { type: 'thinking', thinking: [] },
    { type: 'text', text: 'It says ' },
    { type: 'text', text: 'hello' },
  ]
  expect((await actWith([completion({ content })])).act).toMatchObject({ text: 'It says hello' })
  const message = { role: 'assistant', content: '' }
  const error = { code: 502, message: 'Provider returned error' }
  for (const choice of [
    { message, error },
    { message, finish_reason: 'error' },
  ]) {
    const { act, asked } = await actWith([{ body: { choices: [choice] } }, completion({ content: 'ok' })])
    expect(act).toMatchObject({ text: 'ok' })
    expect(asked).toHaveLength(2)
    const { act: never } = await actWith([{ body: { choices: [choice] } }], { retries: 1 })
    expect(never).toBeInstanceOf(Error)
  }
})

test('the address of an endpoint: base or whole, its query kept, no passwords', () => {
  expect(endpointUrl('https://a.example/v1/').href).toBe('https://a.example/v1/chat/completions')
  expect(endpointUrl('https://a.example/v1/chat/completions').pathname).toBe('/v1/chat/completions')
  expect(endpointUrl('https://a.example/openai?api-version=7').href).toBe(
    'https://a.example/openai/chat/completions?api-version=7',
  )
  for (const wrong of ['https://', 'ftp://a.example', 'https://me:hidden@a.example/v1'])
    expect(() => endpointUrl(wrong)).toThrow(/endpoint/)
})

test('beforeAttempt sees each attempt, learns what it took, and can stop it', async () => {
  const sent: string[] = []
  const used: unknown[] = []
  const beforeAttempt: OpenAIActorOptions['beforeAttempt'] = async (text) => {
    if (sent.length === 3) throw new Error('enough')
    sent.push(text)
    return (tokens) => used.push(tokens)
  }
  const uncounted = { body: { choices: [{ message: { role: 'assistant', content: 'ok' } }] } }
  const replies = [{ status: 500 }, { status: 200, text: 'no JSON' }, completion({ content: 'ok' })]
  const { act, asked } = await actWith(replies, { beforeAttempt })
  expect(act).toMatchObject({ text: 'ok' })
  expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual(asked.map(({ body }) => body))
  expect(used).toEqual([
    { promptTokens: 0, sampledTokens: 0 },
    undefined,
    expect.objectContaining({ promptTokens: 12, sampledTokens: 5 }),
  ])
  const stopped = await actWith([uncounted], { beforeAttempt })
  expect(stopped.act).toMatchObject({ message: 'enough' })
  expect(stopped.asked).toEqual([])
  sent.length = 0
  await actWith([uncounted], { beforeAttempt })
  expect(used.at(-1)).toBeUndefined()
})
