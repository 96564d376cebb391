import { setTimeout as sleep } from 'node:timers/promises'
import { generateText, stepCountIs, tool } from 'ai'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { InfrastructureError } from '../tool/tool.ts'
import { defineConfig } from './config.ts'
import { evaluate, type EvaluationEvent } from './evaluate.ts'
import { answerMatches, stateEquals } from './scorers.ts'
import { request, scripted } from './testing/scripted-model.ts'
import { tools } from './tools-environment.ts'

/** A list of things to do, whose state starts with what the id of the task says. */
const todo = tools({
  state: (task) => ({ items: task.id === 'full' ? ['milk', 'tea'] : ['milk'], log: [] as string[] }),
  tools: (state) => ({
    add: tool({
      description: 'Adds an item.',
      inputSchema: z.object({ item: z.string() }),
      async execute({ item }) {
        state.log.push(`add ${item}`)
        const { items } = state
        // Trials at the same time would overwrite each other's items here, were they shared.
        await sleep(5)
        state.items = [...items, item]
        return { items: state.items.length }
      },
    }),
    list: tool({ inputSchema: z.object({}), execute: () => state.items.join(', ') }),
  }),
  observe: ({ items }) => ({ items }),
})

const tasks = [
  { id: 'state', prompt: 'Add eggs.', expected: { state: { items: ['milk', 'eggs'] } } },
  { id: 'full', prompt: 'Add eggs.', expected: { state: { items: ['milk', 'tea', 'eggs'] } } },
  {
    id: 'reference',
    prompt: 'Add eggs.',
    seeds: [{ name: 'add', arguments: { item: 'rice' } }],
    reference: [{ name: 'add', arguments: { item: 'eggs' } }],
  },
  { id: 'other', prompt: 'Add eggs.', expected: { state: { items: ['eggs'] } } },
  { id: 'unknown', prompt: 'Fly.', reference: [{ name: 'fly', arguments: {} }] },
  {
    id: 'contradiction',
    prompt: 'Add eggs.',
    reference: [{ name: 'add', arguments: { item: 'eggs' } }],
    expected: { state: { items: [] } },
  },
]

const adds = scripted((options) =>
  options.prompt.some(({ role }) => role === 'tool') ? 'Done.' : { tool: 'add', input: { item: 'eggs' } },
)

test('each trial has a state of its own, which is compared with the expected one', async () => {
  const events: EvaluationEvent[] = []
  const running = evaluate(
    defineConfig({
      agent: async (task, given) => {
        expectTypeOf<keyof typeof given.tools>().toEqualTypeOf<'add' | 'list'>()
        const { model, tools: offered } = given
        return (await generateText({ model, tools: offered, prompt: task.prompt, stopWhen: stepCountIs(3) }))
          .text
      },
      environment: todo,
      tasks,
      score: stateEquals(),
      models: [adds],
      trials: 3,
      concurrency: 12,
    }),
  )
  for await (const event of running) events.push(event)
  const { records } = await running.result
  const solved = (id: string): (boolean | null)[] =>
    records.filter(({ task }) => task === id).map(({ success }) => success)
  for (const id of ['state', 'full', 'reference']) expect(solved(id)).toEqual([true, true, true])
  expect(solved('other')).toEqual([false, false, false])
  expect(events).toContainEqual({
    type: 'refused',
    tasks: [
      { id: 'unknown', reason: expect.stringContaining('unknown tool fly') as string },
      { id: 'contradiction', reason: 'its reference leaves another state than it expects' },
    ],
  })
})

test('tools of the config stand beside those of the environment, with the types of both', async () => {
  const now = tool({ inputSchema: z.object({}), execute: () => 'noon' })
  const config = defineConfig({
    agent: (_, { tools: offered }) => {
      expectTypeOf<keyof typeof offered>().toEqualTypeOf<'add' | 'list' | 'now'>()
      return Object.keys(offered).sort().join(',')
    },
    environment: todo,
    tools: { now: { tool: now, mode: 'run' } },
    tasks: [{ id: 'names', prompt: 'Which tools?', expected: { answer: 'add,list,now' } }],
    score: answerMatches(),
    models: [adds],
  })
  const { records } = await evaluate(config).result
  expect(records[0].success).toBe(true)
})

test('a fault of a tool masks the trial, an error of its own does not', async () => {
  const breaking = (error: Error) =>
    tools({
      tools: () => ({
        add: tool({
          inputSchema: z.object({ item: z.string() }),
          execute: (): string => {
            throw error
          },
        }),
      }),
    })
  const outcome = async (error: Error) => {
    const config = defineConfig({
      agent: async (task, { model, tools: offered }) =>
        (await generateText({ model, tools: offered, prompt: task.prompt, stopWhen: stepCountIs(3) })).text,
      environment: breaking(error),
      tasks: [{ id: '1', prompt: 'Add eggs.', expected: { answer: 'Done.' } }],
      score: answerMatches(),
      models: [adds],
    })
    return (await evaluate(config).result).records[0]
  }
  expect(await outcome(new Error('no such item'))).toMatchObject({ status: 'ok', success: true })
  expect(await outcome(new InfrastructureError('the database is gone'))).toMatchObject({
    status: 'masked',
    error: expect.stringContaining('the database is gone') as string,
  })
})

test('a state that two trials would share is refused, and so is one that cannot be compared', async () => {
  const shared = { items: [] }
  const run = (environment: ReturnType<typeof tools>) =>
    evaluate({
      agent: (task) =>
        request({ prompt: [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }] }),
      environment,
      tasks: [{ id: '1', prompt: 'a', expected: { state: {} } }],
      score: stateEquals(),
      models: [adds],
      trials: 2,
    }).result
  await expect(run(tools({ state: () => shared, tools: () => ({}) }))).rejects.toThrow(/another trial/)
  await expect(run(tools({ state: () => ({ seen: new Map() }), tools: () => ({}) }))).rejects.toMatchObject({
    code: 'bad-config',
    given: 'a Map',
  })
  const closed: string[] = []
  const closing = tools({
    state: ({ id }) => ({ id }),
    tools: () => ({}),
    close: ({ id }) => closed.push(id),
  })
  expect((await run(closing)).records.map(({ success }) => success)).toEqual([false, false])
  expect(closed).toEqual(['1', '1'])
})
