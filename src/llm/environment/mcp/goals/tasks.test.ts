import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { Task } from '../../../agent/types.ts'
import { validateArguments } from '../../../../untrusted/validate.ts'
import { createToolsEnvironment } from '../../tools/tools-environment.ts'
import type { TaskCounts } from '../task-generation.ts'
import { compareSplits, measureTasks } from './measure-tasks.ts'
import { fileTaskSchema, readTaskFile, toFileTask } from './task-file.ts'

/** People with a city and an age; they can be added, moved and removed. */
function register() {
  const people = [
    { personName: 'Ada', homeCity: 'London', age: 36 },
    { personName: 'Grace', homeCity: 'Arlington', age: 85 },
  ]
  const one = (name: string) => {
    const found = people.find((person) => person.personName === name)
    if (found === undefined) throw new Error(`no person ${name}`)
    return found
  }
  const personName = z.string()
  return {
    list_people: { description: 'Lists all people', inputSchema: z.object({}), execute: () => ({ people }) },
    get_person: {
      description: 'Get a person',
      inputSchema: z.object({ personName }),
      execute: (given: { personName: string }) => one(given.personName),
    },
    addPerson: {
      description: 'Add a person to the register',
      inputSchema: z.object({ personName, homeCity: z.string(), age: z.number().int().min(1).max(99) }),
      execute: (given: (typeof people)[number]) => {
        if (people.some((person) => person.personName === given.personName)) throw new Error('there already')
        people.push(given)
        return 'added'
      },
    },
    removePerson: {
      description: 'Remove a person from the register',
      inputSchema: z.object({ personName }),
      execute: (given: { personName: string }) => {
        people.splice(people.indexOf(one(given.personName)), 1)
        return 'removed'
      },
    },
  }
}

async function prepare(wanted: TaskCounts) {
  return open(undefined, wanted)
}

async function open(own: ReturnType<typeof readTaskFile> | undefined, wanted: TaskCounts) {
  const environment = await createToolsEnvironment({
    tools: register,
    writes: ['addPerson', 'removePerson'],
    observe: ['list_people'],
  })
  onTestFinished(() => environment.close())
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: wanted, ...(own && { own }) })
  const all = (['train', 'validation', 'test', 'unseen-paraphrase'] as const).flatMap((split) =>
    tasks.all(split),
  )
  return { environment, tasks, all }
}

const counts: Record<Task['split'], number> = { train: 90, validation: 10, test: 40, 'unseen-paraphrase': 16 }

test('goals: changes, questions, look-ups and conditions, none of them solved without reading the request', async () => {
  const { environment, tasks, all } = await prepare(counts)
  expect(tasks.kinds).toEqual(
    expect.arrayContaining(['addPerson', 'removePerson', 'get_person', 'two changes', 'list_people (which)']),
  )
  expect(tasks.heldOutKinds).toHaveLength(1)
  expect(tasks.all('train').filter(({ kind }) => tasks.heldOutKinds.includes(kind))).toEqual([])
  // No name of a tool or an argument is pasted in, and a request stays short.
  for (const { prompt, reference = [] } of all) {
    expect(prompt).not.toMatch(/[a-z][A-Z]|_|\[object/)
    expect(prompt.split(/\s+/).length).toBeLessThanOrEqual(Math.max(60, 20 * reference.length))
  }
  // Only tests have plans of five or six changes.
  expect(tasks.heldOutKinds).toEqual(['five or six changes'])
  const longest = (some: readonly (typeof all)[number][]): number =>
    Math.max(...some.map(({ reference = [] }) => reference.length))
  expect(longest(tasks.all('train'))).toBeLessThanOrEqual(4)
  expect(longest(tasks.all('test'))).toBeGreaterThanOrEqual(5)
  const measures = await measureTasks(environment, all)
  const [expert, ...cheats] = measures.shares
  expect(expert).toMatchObject({ agent: 'expert', solved: all.length, judged: all.length })
  expect(cheats).toHaveLength(4)
  for (const { solved, judged, chance } of cheats)
    expect(solved).toBeLessThanOrEqual((chance ?? 0) + 0.06 * judged)
  expect(measures.duplicates).toBe(0)
  expect(measures.sharedPlans).toBe(0)
  expect(measures.guessable).toBeLessThanOrEqual(0.12 * all.length)
})

test('tasks go into a file and come back, edited or written by hand', async () => {
  const { all } = await prepare({ train: 10, test: 5 })
  const lines = all.map(toFileTask)
  for (const line of lines) expect(validateArguments(fileTaskSchema, line)).toBeUndefined()
  const folder = mkdtempSync(join(tmpdir(), 'agoge-tasks-'))
  const file = join(folder, 'tasks.jsonl')
  const own = [
    {
      id: 'age',
      prompt: 'How old is Ada?',
      reference: [{ name: 'get_person', arguments: { personName: 'Ada' } }],
      expected: { answer: 36 },
    },
    {
      id: 'gone',
      prompt: 'Grace has left.',
      reference: [{ name: 'removePerson', arguments: { personName: 'Grace' } }],
    },
    { id: 'free', prompt: 'Who lives in London?', expected: { answer: 'Ada' } },
    {
      id: 'wrong',
      prompt: 'How old is Ada?',
      reference: [{ name: 'get_person', arguments: { personName: 'Alan' } }],
      expected: { answer: 36 },
    },
    {
      id: 'empty',
      prompt: 'Look at Ada.',
      reference: [{ name: 'get_person', arguments: { personName: 'Ada' } }],
    },
  ]
  writeFileSync(file, [...lines, ...own].map((line) => JSON.stringify(line)).join('\n'))
  const again = await open(readTaskFile(file), { test: 1 })
  expect(again.tasks.refused.map(({ id }) => id)).toEqual(['wrong', 'empty'])
  expect(again.all.map(({ id }) => id).toSorted()).toEqual(
    [...lines.map(({ id }) => id), 'age', 'gone', 'free'].toSorted(),
  )
  const gone = again.all.find(({ id }) => id === 'gone')
  expect(gone?.expected).toMatchObject({ answer: null, state: expect.not.stringContaining('Grace') })
  expect(compareSplits(again.all).duplicates).toBe(0)
})

test('a broken line of a task file is named', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'agoge-tasks-')), 'tasks.jsonl')
  const expected = { answer: 'x' }
  for (const [text, message] of [
    ['{"id": 1}', /tasks\.jsonl:1 is no task/],
    [`${JSON.stringify({ id: 'a', prompt: 'x', expected })}\nnope`, /tasks\.jsonl:2 is no task/],
    [JSON.stringify({ id: 'a', prompt: 'x' }), /is no task/],
    [JSON.stringify({ id: 'a', prompt: 'x', expected, split: 'exam' }), /is no task/],
    [
      `${JSON.stringify({ id: 'a', prompt: 'x', expected })}\n${JSON.stringify({ id: 'a', prompt: 'y', expected })}`,
      /two tasks with the id "a"/,
    ],
    ['', /has no task/],
  ] as const) {
    writeFileSync(file, text)
    expect(() => readTaskFile(file)).toThrow(message)
  }
})

test('a tool that makes the same change whatever it is asked has no tasks of its own', async () => {
  const environment = await createToolsEnvironment({
    tools() {
      const state = { started: false, notes: [] as string[] }
      return {
        show_all: { inputSchema: z.object({}), execute: () => state },
        // Makes a folder at its first call, as some servers do.
        list_notes: {
          description: 'Lists the notes with a status',
          inputSchema: z.object({ status: z.enum(['open', 'done']) }),
          execute() {
            state.started = true
            return 'none'
          },
        },
        add_note: {
          description: 'Adds a note',
          inputSchema: z.object({ title: z.string() }),
          execute: ({ title }: { title: string }) => (state.notes.push(title), 'added'),
        },
      }
    },
    writes: ['list_notes', 'add_note'],
    observe: ['show_all'],
  })
  onTestFinished(() => environment.close())
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 1, counts: { train: 12 } })
  expect(tasks.kinds).toContain('add_note')
  expect(tasks.kinds).not.toContain('list_notes')
  expect(leftOut).toContainEqual({
    name: 'list_notes',
    reason: 'it makes the same change whatever its arguments are',
  })
})
