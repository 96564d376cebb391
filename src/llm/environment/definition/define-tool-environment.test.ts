import { readScore } from '../../episode/score.ts'
import { expect, test } from 'vitest'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import { checkToolEnvironment } from './check-tool-environment.ts'
import { defineToolEnvironment } from './define-tool-environment.ts'
import type { ToolEnvironmentDefinition } from './define-tool-environment.ts'

const limits = { turns: 6, deadlineSeconds: 60, toolDeadlineSeconds: 20 }
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

interface List {
  items: string[]
}

/** A list of words to which one can be added, and that can be counted; `change` spoils it. */
const listOf = (change: Partial<ToolEnvironmentDefinition<List>> = {}) =>
  defineToolEnvironment<List>({
    name: 'list',
    state: ({ random, words }) => ({ items: random.shuffle(words.nouns).slice(0, 2 + random.int(4)) }),
    tools: (state) => ({
      add: {
        inputSchema: text,
        execute: (args: { text: string }) => `${state.items.push(args.text)} items`,
      },
      show: { inputSchema: { type: 'object' }, execute: () => state.items.join(', ') },
    }),
    kinds: { add, count },
    ...change,
  })

const add: ToolEnvironmentDefinition<List>['kinds'][string] = {
  templates: ['[Add|Put] <text> [to|on] the list'],
  draft: ({ items }, { random, words }) => {
    const fresh = random.pick(words.adjectives)
    return { holes: { text: fresh }, plan: [['add', { text: fresh }]], context: { items: items.length } }
  },
}
const count: ToolEnvironmentDefinition<List>['kinds'][string] = {
  templates: ['[How many|Which number of] words [are|stand] on the list'],
  draft: ({ items }) => ({ plan: [['show', {}]], answer: items.length }),
}

test('tasks follow from split, seed and kind; ids, prompts and context are filled in', () => {
  const { tasks } = listOf()
  const task = tasks.task({ split: 'test', seed: 3 })
  expect(task).toMatchObject({
    id: 'list/test/count/3',
    kind: 'count',
    wanted: { kind: 'number' },
    difficulty: 1,
  })
  expect(tasks.task({ split: 'test', seed: 3 })).toEqual({ ...task, plan: expect.any(Function) })
  expect(tasks.task({ split: 'train', seed: 4 }).prompt).toMatch(/^(Add|Put) \w+ (to|on) the list$/)
  expect(() => tasks.task({ split: 'train', seed: 1, kind: 'sort' })).toThrow('has no kind of task "sort"')
})

test('splits share no task and no prompt, and held-out tasks are all different', () => {
  const { tasks } = listOf()
  const [train, validation, tested] = (['train', 'validation', 'test'] as const).map((split) =>
    Array.from({ length: 400 }, (_, seed) => tasks.task({ split, seed })),
  )
  const promptsOf = (list: typeof train) => new Set(list.map(({ prompt }) => prompt))
  for (const prompt of promptsOf(tested)) expect(promptsOf(train)).not.toContain(prompt)
  for (const prompt of promptsOf(validation)) expect(promptsOf(train)).not.toContain(prompt)
  const heldOut = tasks.heldOut?.('test', 60) ?? []
  expect(new Set(heldOut.map((task) => JSON.stringify([task.prompt, task.start]))).size).toBe(60)
  expect(new Set(heldOut.map(({ kind }) => kind))).toEqual(new Set(['add', 'count']))
  expect(tasks.heldOut?.('unseen-paraphrase', 10)).toEqual([])
})

test('further templates are of training only, and unseen ones are divided by what is new in them', () => {
  const { tasks } = listOf({
    kinds: {
      add: {
        ...add,
        trainingTemplates: ['<text>: [note it|write it down]'],
        unseen: { sentences: ['To the list, <text>'], words: ['Append <text>', 'Enter <text>'] },
      },
    },
  })
  const of = (split: 'train' | 'test' | 'unseen-paraphrase') =>
    Array.from({ length: 400 }, (_, seed) => tasks.task({ split, seed }))
  const further = of('train').filter(({ prompt }) => /: (note it|write it down)$/.test(prompt))
  expect(further.length).toBeGreaterThan(260)
  expect(further.length).toBeLessThan(340)
  for (const { prompt, context } of of('test')) {
    expect(prompt).toMatch(/^(Add|Put) \w+ (to|on) the list$/)
    expect(context).toEqual({ items: expect.any(Number) })
  }
  const unseen = of('unseen-paraphrase')
  for (const { prompt, context } of unseen)
    expect(prompt.startsWith('To')).toBe(context['unseen'] === 'sentences')
  const sentences = unseen.filter(({ context }) => context['unseen'] === 'sentences')
  expect(sentences.length).toBeGreaterThan(160)
  expect(sentences.length).toBeLessThan(240)
})

test('an episode succeeds if its state equals the state after the plan and its answer is right', async () => {
  const list = listOf()
  const { tasks } = list
  const environment = await list.create()
  const [adding, counting] = [0, 1].map((seed) => tasks.task({ split: 'train', seed }))
  const judge = async (task: typeof adding, calls: [string, Record<string, unknown>][], answer: string) => {
    const session = await environment.open(task, {})
    for (const [name, args] of calls) await session.call(name, args)
    const score = await session.judge({ answer, calls: calls.length, invalidCalls: 0 })
    return readScore(score, task.id).value === 1
  }
  const word = /^\w+ (\w+)/.exec(adding.prompt)?.[1]
  expect(await judge(adding, [['add', { text: word }]], 'ok')).toBe(true)
  expect(await judge(adding, [['add', { text: 'other' }]], 'ok')).toBe(false)
  expect(await judge(adding, [], 'ok')).toBe(false)
  expect(await judge(counting, [], `There are ${counting.start.items.length}.`)).toBe(true)
  expect(await judge(counting, [], '99')).toBe(false)
  expect(await judge(counting, [['add', { text: 'x' }]], String(counting.start.items.length))).toBe(false)
})

test('a custom judge decides, and a draft can name a goal', async () => {
  const environment = listOf({
    kinds: {
      add: { ...add, draft: (state, draw) => ({ ...add.draft(state, draw), goal: { items: ['x'] } }) },
    },
    judge: ({ goal, state, start }) => ({
      value: Number(goal.items[0] === 'x' && state.items.length > start.items.length),
      parts: { longer: 1 },
    }),
  })
  const task = environment.tasks.task({ split: 'train', seed: 0 })
  const specs = [{ id: 'e', group: 'e', task }]
  const expert = createExpertActor({ tasks: new Map([['e', task]]) })
  const [episode] = await runEpisodes(specs, expert, await environment.create(), limits)
  expect(episode.success).toBe(true)
  expect(episode.rewards).toContainEqual(expect.objectContaining({ name: 'part:longer', value: 1 }))
})

test('the checker plays every kind of a sound environment', async () => {
  expect(await checkToolEnvironment(listOf(), { tasks: 3 })).toEqual({
    name: 'list',
    kinds: { add: { tasks: 9, calls: 1 }, count: { tasks: 9, calls: 1 } },
  })
})

const broken: [string, Partial<ToolEnvironmentDefinition<List>>, RegExp][] = [
  [
    'a plan that fails',
    {
      kinds: {
        add: { ...add, draft: (state, draw) => ({ ...add.draft(state, draw), goal: { items: [] } }) },
      },
    },
    /the expert plan does not succeed \(kind "add", split train, seed 0\)/,
  ],
  ['a task that needs nothing', { judge: () => true }, /only answers "done" succeeds \(kind "add"/],
  [
    'templates too few for three splits',
    { kinds: { add, count: { ...count, templates: ['How many words are there'] } } },
    /The kind "count" of list has no task of the split validation/,
  ],
  [
    'too few different tasks for a split',
    { kinds: { add: { ...add, draft: () => ({ holes: { text: 'a' }, plan: [['add', { text: 'a' }]] }) } } },
    /The kind "add" of list has no task of the split \w+/,
  ],
  [
    'the same tasks in two splits',
    {
      splits: 'own',
      state: () => ({ items: [] }),
      kinds: { add: { draft: () => ({ prompt: 'Add milk', plan: [['add', { text: 'milk' }]] }) } },
    },
    /the same task is in the split train \(kind "add", split validation/,
  ],
  ['chance that no seed has', { state: () => ({ items: [String(Math.random())] }) }, /two different tasks/],
  [
    'results that differ from time to time',
    {
      tools: (state) => ({
        add: {
          inputSchema: text,
          execute: (args: { text: string }) => `${state.items.push(args.text)} ${Math.random()}`,
        },
        show: { inputSchema: { type: 'object' }, execute: () => '' },
      }),
    },
    /answered differently in a second episode/,
  ],
  ['a plan that is too long', { limits: { turns: 1 } }, /more turns than an episode has/],
]

test.each(broken)('the checker names %s', async (_, change, message) => {
  await expect(checkToolEnvironment(listOf(change), { tasks: 3 })).rejects.toThrow(message)
})

test('the checker finds a state that episodes share', async () => {
  const done = new Set<string>()
  const shared = listOf({
    tools: () => ({
      add: { inputSchema: text, execute: (args: { text: string }) => void done.add(args.text) },
    }),
    kinds: { add },
    judge: ({ task }) => done.has(/^\w+ (\w+)/.exec(task.prompt)?.[1] ?? ''),
  })
  await expect(checkToolEnvironment(shared, { tasks: 1 })).rejects.toThrow(/succeeds|seen by another/)
})

test('an invalid definition is refused with the name of the problem', async () => {
  expect(() => listOf({ kinds: {} })).toThrow('list has no kind of task')
  const functions = listOf({ state: () => ({ items: [], find: () => 1 }) as List })
  await expect(functions.create()).rejects.toThrow('The state of list cannot be copied')
})
