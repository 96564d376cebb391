import { expect, test } from 'vitest'
import type { CallOptions } from '../agent/ai-sdk/read-call.ts'
import { fitRoute, routeOf } from './routing.ts'
import { type AgentSetup, checkSetup, setupId } from './setup.ts'
import { type CallableModel, withSetup } from './with-setup.ts'

interface Said {
  text?: string
  call?: [name: string, input: string]
}

/** A model object that answers by a function, and keeps what it was asked. */
function scripted(
  answer: (options: CallOptions, count: number) => Said,
): CallableModel & { asked: CallOptions[] } {
  const asked: CallOptions[] = []
  const contentOf = (options: CallOptions) => {
    asked.push(options)
    const { text, call } = answer(options, asked.length)
    return [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(call === undefined
        ? []
        : [{ type: 'tool-call', toolCallId: '1', toolName: call[0], input: call[1] }]),
    ]
  }
  return {
    asked,
    specificationVersion: 'v3',
    provider: 'test',
    modelId: 'scripted',
    doGenerate: (options: CallOptions) =>
      Promise.resolve({
        content: contentOf(options),
        finishReason: { unified: 'stop' },
        usage: {},
        warnings: [],
      }),
    doStream: (options: CallOptions) =>
      Promise.resolve({ stream: ReadableStream.from([...contentOf(options), { type: 'finish' }]) }),
  }
}

const user = (text: string): CallOptions['prompt'][number] => ({
  role: 'user',
  content: [{ type: 'text', text }],
})
const generate = async (model: CallableModel, options: CallOptions) =>
  (await model.doGenerate(options as never)) as {
    content: { type: string; text?: string; toolName?: string }[]
  }

const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { type: 'function', name: 'w1', description: 'x', inputSchema }

const setup: AgentSetup = {
  schema: 1,
  instructions: { text: 'Answer in $1 word.', replaces: 'Be brief.' },
  playbook: [{ id: 'a', text: 'Cities have countries.' }],
  demonstrations: [
    {
      messages: [
        { role: 'user', text: 'Rome?' },
        { role: 'assistant', text: '', calls: [{ id: 'd', name: 'w1', arguments: { city: 'Rome' } }] },
        { role: 'tool', text: 'sun', callId: 'd' },
        { role: 'assistant', text: 'sun' },
      ],
    },
  ],
  tools: { w1: { name: 'weather_of', description: 'The weather of a city.' } },
}

test('instructions, rules, demonstrations and tools stand in each call, and the agent keeps its own names', async () => {
  const model = scripted(() => ({ call: ['weather_of', '{"city":"Oslo"}'] }))
  const prompt: CallOptions['prompt'] = [
    { role: 'system', content: 'You help. Be brief.' },
    user('Oslo?'),
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: '0', toolName: 'w1', input: {} }] },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: '0', toolName: 'w1', output: { type: 'text', value: 'rain' } },
      ],
    },
  ]
  const options: CallOptions = { prompt, tools: [weather], toolChoice: { type: 'tool', toolName: 'w1' } }
  const before = structuredClone(options)
  const { content } = await generate(withSetup(model, setup), options)
  expect(content).toMatchObject([{ type: 'tool-call', toolName: 'w1' }])
  expect(options).toEqual(before)
  const [asked] = model.asked
  expect(asked.prompt[0]).toEqual({
    role: 'system',
    content: 'You help. Answer in $1 word.\n- Cities have countries.',
  })
  expect(asked.prompt.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
    'assistant',
    'tool',
  ])
  expect(JSON.stringify(asked.prompt)).not.toContain('"w1"')
  expect(asked.tools).toEqual([{ ...weather, name: 'weather_of', description: 'The weather of a city.' }])
  expect(asked.toolChoice).toEqual({ type: 'tool', toolName: 'weather_of' })
})

test('without a system message, or without the text to be replaced, instructions are added', async () => {
  const model = scripted(() => ({ text: 'yes' }))
  await generate(withSetup(model, setup), { prompt: [user('a')] })
  await generate(withSetup(model, setup), { prompt: [{ role: 'system', content: 'Other.' }, user('a')] })
  const added = 'Answer in $1 word.\n- Cities have countries.'
  expect(model.asked.map(({ prompt }) => prompt[0].content)).toEqual([added, `Other.\n\n${added}`])
})

test('streams keep their parts, with the names of the agent; the plain setup changes nothing', async () => {
  const model = scripted(() => ({ text: 'well', call: ['weather_of', '{}'] }))
  const streamed = (await withSetup(model, setup).doStream({ prompt: [user('a')] } as never)) as {
    stream: ReadableStream<{ type: string; toolName?: string }>
  }
  const parts: { type: string; toolName?: string }[] = []
  for await (const part of streamed.stream) parts.push(part)
  expect(parts.map(({ type, toolName }) => toolName ?? type)).toEqual(['text', 'w1', 'finish'])
  const options = { prompt: [user('a')], tools: [weather] }
  await generate(withSetup(model, { schema: 1 }), options)
  expect(model.asked.at(-1)).toEqual(options)
})

test('votes: the most frequent answer of several samples, at a temperature and with seeds of their own', async () => {
  const answers = ['Rome', ' oslo', 'Oslo', 'Bonn', 'OSLO ']
  const model = scripted((_, count) => ({ text: answers[count - 1] }))
  const voted = withSetup(model, { schema: 1, testTime: { method: 'votes', count: 5 } })
  const { content } = await generate(voted, { prompt: [user('a')], temperature: 0, seed: 7 })
  expect(content[0].text).toBe(' oslo')
  expect(model.asked.map(({ temperature, seed }) => [temperature, seed])).toEqual(
    [7, 8, 9, 10, 11].map((seed) => [1, seed]),
  )
})

test('best of several: another model chooses; a reply without a number takes the first', async () => {
  const model = scripted((_, count) => ({ text: ['a', 'b', 'a'][(count - 1) % 3] }))
  const best = { schema: 1, testTime: { method: 'best', count: 3, judge: 'judge' } } as const
  const sure = scripted(() => ({ text: 'Answer 2.' }))
  const lost = scripted(() => ({ text: 'none' }))
  const ask = async (judge: CallableModel) =>
    (await generate(withSetup(model, best, { models: { judge } }), { prompt: [user('q')] })).content[0].text
  expect([await ask(sure), await ask(lost)]).toEqual(['b', 'a'])
  expect(sure.asked).toHaveLength(1)
})

test('verify: a call that fits no tool is asked for again with the problem, and so is what a function finds', async () => {
  const model = scripted(
    (_, count) => [{ call: ['w1', '{"town":1}'] }, { text: 'no' }, { text: 'yes' }][count - 1] as Said,
  )
  const checked = withSetup(
    model,
    { schema: 1, testTime: { method: 'verify', retries: 3 } },
    { verify: ({ text }) => (text === 'no' ? 'the answer must be yes' : undefined) },
  )
  const { content } = await generate(checked, { prompt: [user('q')], tools: [weather] })
  expect(content[0].text).toBe('yes')
  const lasts = model.asked.map(({ prompt }) => JSON.stringify(prompt.at(-1)))
  expect(lasts[1]).toContain('w1: \\"city\\" is missing')
  expect(lasts[2]).toContain('the answer must be yes')
})

test('routing: each request goes to the model that did such requests best', async () => {
  const sums = ['what is 2 and 3', 'what is 7 and 1', 'what is 4 and 4'].map((text) => text)
  const poems = ['write a poem on rain', 'write a poem on snow', 'a poem on trees'].map((text) => text)
  const fit = (ofSums: number, ofPoems: number) =>
    fitRoute([
      ...sums.map((text) => ({ text, success: ofSums })),
      ...poems.map((text) => ({ text, success: ofPoems })),
    ])
  const models = { adder: fit(1, 0), poet: fit(0, 1) }
  expect(routeOf('what is 9 and 2', { models, size: 64 })).toBe('adder')
  expect(routeOf('write a poem on 9 cats', { models, size: 64 })).toBe('poet')
  const [adder, poet] = ['5', 'roses'].map((text) => scripted(() => ({ text })))
  const routed = withSetup(adder, { schema: 1, routing: { models, size: 64 } }, { models: { adder, poet } })
  expect((await generate(routed, { prompt: [user('a poem please')] })).content[0].text).toBe('roses')
})

test('equal setups have equal ids; wrong ones, and unknown models, are refused by name', () => {
  expect(setupId({ schema: 1, model: 'a', playbook: [] })).toBe(
    setupId({ playbook: [], model: 'a', schema: 1 }),
  )
  expect(setupId({ schema: 1, model: 'a' })).not.toBe(setupId({ schema: 1, model: 'b' }))
  const wrong: [object, RegExp][] = [
    [{ schema: 2 }, /"schema"/],
    [{ schema: 1, instructions: 'x' }, /"instructions"/],
    [{ schema: 1, demonstrations: [{ messages: [{ role: 'x', text: 'y' }] }] }, /"demonstrations"/],
    [{ schema: 1, tools: { a: 'b' } }, /"tools"/],
    [{ schema: 1, routing: { size: 2, models: { a: [1] } } }, /"routing"/],
    [{ schema: 1, testTime: { method: 'votes', count: 1 } }, /"testTime"/],
  ]
  for (const [given, message] of wrong) expect(() => checkSetup(given)).toThrow(message)
  const model = scripted(() => ({}))
  expect(() => withSetup(model, { schema: 1, model: 'gone' })).toThrow(/names the model "gone"/)
})
