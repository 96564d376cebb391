import { jsonSchema, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import { createToolsEnvironment } from './tools-environment.ts'

const limits = { turns: 6, deadlineSeconds: 600, toolDeadlineSeconds: 120 }

/** A till that is its own for every call of the function. */
function till() {
  const prices = new Map<string, number>()
  return {
    set_price: tool({
      description: 'Sets the price of an article.',
      inputSchema: z.object({ article: z.string(), price: z.number().int().min(1).max(99) }),
      execute: ({ article, price }) => {
        prices.set(article, price)
        return 'ok'
      },
    }),
    get_price: tool({
      description: 'The price of an article.',
      inputSchema: z.object({ article: z.string() }),
      execute: ({ article }) => {
        if (!prices.has(article)) throw new Error(`no article ${article}`)
        return { price: prices.get(article) }
      },
    }),
    list_prices: tool({
      description: 'All prices.',
      inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
      execute: () => Object.fromEntries(prices),
    }),
  }
}

test('tools of the AI SDK in code: tasks are generated, proved and solved, each in a state of its own', async () => {
  const environment = await createToolsEnvironment({
    tools: till,
    writes: ['set_price'],
    observe: ['list_prices'],
  })
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 1, counts: { train: 24, test: 12 } })
  expect(leftOut).toEqual([])
  expect(tasks.kinds).toEqual(
    expect.arrayContaining(['set_price', 'get_price', 'list_prices', 'set_price+get_price']),
  )
  const all = [...tasks.all('train'), ...tasks.all('test')]
  const specs = all.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  const episodes = await runEpisodes(specs, expert, environment, limits)
  expect(episodes.filter((episode) => episode.success !== true)).toEqual([])
  await environment.close()
})

test('the same seed gives the same tasks, however many are made at a time', async () => {
  const prepare = async (seed: number, concurrency: number) => {
    const environment = await createToolsEnvironment({
      tools: till,
      writes: ['set_price'],
      observe: ['list_prices'],
    })
    const { tasks } = await environment.prepareTasks({ seed, counts: { train: 12, test: 6 }, concurrency })
    return [...tasks.all('train'), ...tasks.all('test')].map((task) => ({ ...task, plan: undefined }))
  }
  const tasks = await prepare(7, 1)
  expect(tasks).toHaveLength(18)
  expect(await prepare(7, 8)).toEqual(tasks)
  expect(await prepare(8, 8)).not.toEqual(tasks)
})

test('a tool that is left out is neither offered nor callable', async () => {
  let rolls = 0
  const inputSchema = z.object({})
  const roll = { inputSchema, execute: () => ({ rolled: ++rolls }) }
  const greet = { inputSchema, execute: () => ({ greeting: 'hello' }) }
  const environment = await createToolsEnvironment({ tools: { roll, greet } })
  expect(environment.tools.map(({ name }) => name)).toEqual(['roll', 'greet'])
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 1, counts: { train: 2 } })
  expect(leftOut).toEqual([{ name: 'roll', reason: expect.stringContaining('another result') }])
  expect(environment.tools.map(({ name }) => name)).toEqual(['greet'])
  const session = await environment.open(tasks.all('train')[0], {})
  expect(session.specs).toEqual(environment.tools)
  const before = rolls
  expect(await session.call('roll', {})).toEqual({ text: 'error: no tool roll', isError: true })
  expect(rolls).toBe(before)
})

test('an environment of functions without state', async () => {
  const double = {
    inputSchema: z.object({ number: z.number() }),
    execute: ({ number }: { number: number }) => 2 * number,
  }
  const environment = await createToolsEnvironment({ tools: { double } })
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 5 } })
  for (const task of tasks.all('train')) {
    const stated = Number(/\d+/.exec(task.prompt)?.[0])
    expect(task.expected.answer).toBe(String(2 * stated))
  }
})

test('writing tools need a state that can be reset and observed', async () => {
  await expect(
    createToolsEnvironment({ tools: till(), writes: ['set_price'], observe: ['list_prices'] }),
  ).rejects.toMatchObject({ code: 'bad-environment' })
  await expect(createToolsEnvironment({ tools: till, writes: ['set_price'] })).rejects.toMatchObject({
    code: 'bad-environment',
  })
  await expect(createToolsEnvironment({ tools: till, observe: ['list'] })).rejects.toMatchObject({
    code: 'unknown-tool',
    given: 'list',
  })
})
