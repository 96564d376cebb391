import { jsonSchema, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineTools } from './define-tools.ts'
import { InfrastructureError } from './tool.ts'

const weather = tool({
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string(), unit: z.enum(['c', 'f']).default('c') }),
  execute: ({ city, unit }, { toolCallId }) => ({ city, unit, toolCallId }),
})

test("the AI SDK's tools work as they are", async () => {
  const toolbox = await defineTools({
    weather,
    shout: tool({
      inputSchema: jsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      }),
      execute: ({ text }) => text.toUpperCase(),
    }),
    count: tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 1
        yield 2
      },
    }),
  })
  expect(toolbox.specs[0]).toMatchObject({
    name: 'weather',
    description: 'The weather of a city.',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  })
  expect(await toolbox.call('weather', { city: 'Rome' }, { id: 'w1' })).toEqual({
    text: '{"city":"Rome","unit":"c","toolCallId":"w1"}',
    isError: false,
    structured: { city: 'Rome', unit: 'c', toolCallId: 'w1' },
  })
  expect(await toolbox.call('shout', { text: 'hey' })).toEqual({ text: 'HEY', isError: false })
  expect((await toolbox.call('count', {})).text).toBe('2')
  expect((await toolbox.call('shout', {})).text).toBe('error: "text" is missing')
  expect((await toolbox.call('weather', { city: 3 })).text).toMatch(/^error: "city": /)
  expect(await toolbox.call('nothing', {})).toEqual({ text: 'error: unknown tool nothing', isError: true })
})

test('plain JSON Schema and hand-written objects work as tools', async () => {
  const toolbox = await defineTools({
    add: {
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      execute: ({ a, b }: { a: number; b: number }) => a + b,
      annotations: { readOnlyHint: true },
    },
  })
  expect(toolbox.specs[0].annotations).toEqual({ readOnlyHint: true })
  expect(await toolbox.call('add', { a: 1, b: 2 })).toEqual({ text: '3', isError: false, structured: 3 })
})

test('an error thrown by a tool is a result; an InfrastructureError is thrown on', async () => {
  const fail = (error: Error) => ({
    inputSchema: { type: 'object' },
    execute: () => {
      throw error
    },
  })
  const toolbox = await defineTools({
    bad: fail(new Error('no')),
    broken: fail(new InfrastructureError('disk')),
  })
  expect(await toolbox.call('bad', {})).toEqual({ text: 'error: no', isError: true })
  await expect(toolbox.call('broken', {})).rejects.toBeInstanceOf(InfrastructureError)
})

test('unusable tools are refused by name', async () => {
  await expect(defineTools({ idle: { inputSchema: {} } })).rejects.toThrow(/"idle" has no execute/)
  const schemaOnly = {
    '~standard': { version: 1, vendor: 'mine', validate: (value: unknown) => ({ value }) },
  }
  const execute = (): string => ''
  await expect(defineTools({ mine: { inputSchema: schemaOnly, execute } })).rejects.toThrow(
    /"mine" cannot be used/,
  )
  await expect(defineTools({ list: { inputSchema: z.array(z.string()), execute } })).rejects.toThrow(
    /"list".*\/type/,
  )
})
