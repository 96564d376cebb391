import { tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { heldOutTasks } from '../../rollout/collect.ts'
import { createToolsEnvironment } from '../tools/tools-environment.ts'

/** Two tools; the second works as long as `works` says so. */
function twoTools(works: () => boolean) {
  return {
    length: tool({
      inputSchema: z.object({ text: z.string() }),
      execute: ({ text }) => ({ characters: 1000 + text.length }),
    }),
    fragile: tool({
      inputSchema: z.object({ word: z.string() }),
      execute: ({ word }) => {
        if (!works()) throw new Error('no more')
        return { letters: 2000 + word.length }
      },
    }),
  }
}

test('a kind without held-out tasks is reported, and takes no tasks of the others away', async () => {
  let training = true
  const environment = await createToolsEnvironment({ tools: twoTools(() => training) })
  const { tasks } = await environment.prepareTasks({
    seed: 1,
    counts: { train: 12, validation: 6, test: 6 },
    concurrency: 1,
    onProgress: (done) => {
      training = done < 12
    },
  })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['length', 'fragile']))
  expect(tasks.missing.map(({ split }) => split)).toEqual(['validation', 'test'])
  for (const { kinds } of tasks.missing) expect(kinds).toContain('fragile')
  const held = heldOutTasks(tasks, 'test', 6)
  expect(held).toHaveLength(6)
  expect(new Set(held.map(({ prompt }) => prompt)).size).toBe(6)
  expect(new Set(held.map(({ kind }) => kind))).toEqual(new Set(['length']))
  expect(heldOutTasks(tasks, 'test', 4)).toEqual(held.slice(0, 4))
  await environment.close()
})

test('kinds take turns in what is held out', async () => {
  const environment = await createToolsEnvironment({ tools: twoTools(() => true) })
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 6, test: 12 } })
  const { length } = tasks.kinds
  expect(new Set(heldOutTasks(tasks, 'test', length).map(({ kind }) => kind)).size).toBe(length)
  expect(tasks.missing).toEqual([])
  await environment.close()
})

test('the same calls are held out at most ten times, and each listed value occurs in training', async () => {
  const sizes = { small: 31, medium: 57, large: 84, huge: 129 }
  const size = z.enum(['small', 'medium', 'large', 'huge'])
  const environment = await createToolsEnvironment({
    tools: {
      price: tool({
        inputSchema: z.object({ size, sale: z.boolean() }),
        execute: ({ size, sale }) => ({ euros: sale ? sizes[size] - 9 : sizes[size] }),
      }),
    },
  })
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 40, test: 60 } })
  const callsOf = (split: 'train' | 'test') =>
    tasks.all(split).map(({ reference }) => JSON.stringify(reference))
  const test = callsOf('test')
  const times = [...new Set(test)].map((calls) => test.filter((other) => other === calls).length)
  expect(times.length).toBeGreaterThan(0)
  expect(Math.max(...times)).toBe(10)
  for (const value of Object.keys(sizes)) expect(callsOf('train').join()).toContain(`"${value}"`)
  expect(test.filter((calls) => callsOf('train').includes(calls))).toEqual([])
  await environment.close()
})

test('nothing held out at all is an error, not an empty table', async () => {
  let training = true
  const { fragile } = twoTools(() => training)
  const environment = await createToolsEnvironment({ tools: { fragile } })
  const preparing = environment.prepareTasks({
    seed: 1,
    counts: { train: 4, test: 4 },
    concurrency: 1,
    onProgress: (done) => {
      training = done < 4
    },
  })
  await expect(preparing).rejects.toMatchObject({
    code: 'no-tasks',
    message: 'no test task could be made from the tools of "tools"',
  })
  await environment.close()
})

test('tools that carry no task say why: too long a result is not a result without anything to ask for', async () => {
  const none = z.object({})
  const environment = await createToolsEnvironment({
    tools: {
      ...twoTools(() => true),
      dump: { inputSchema: none, execute: () => 'word '.repeat(100) },
      records: { inputSchema: none, execute: () => [{ name: 'river' }, { name: 'river' }] },
    },
  })
  const { leftOut } = await environment.prepareTasks({ seed: 1, counts: { train: 2 } })
  expect(leftOut).toEqual([
    { name: 'dump', reason: expect.stringMatching(/too long: the model sees 300 characters.*"resultLimit"/) },
    { name: 'records', reason: expect.stringMatching(/occurs several times/) },
  ])
  await environment.close()
})

test('a tool that fails now and then is tried again before it is left out', async () => {
  let calls = 0
  // The call that proves it works, its repetition fails once.
  const environment = await createToolsEnvironment({
    tools: { fragile: twoTools(() => ++calls !== 2).fragile },
  })
  const { tasks, leftOut } = await environment.prepareTasks({ seed: 1, counts: { train: 2 } })
  expect(leftOut).toEqual([])
  expect(tasks.kinds).toEqual(['fragile'])
  await environment.close()
})
