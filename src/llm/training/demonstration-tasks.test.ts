import { expect, test } from 'vitest'
import type { Task, TaskSource } from '../agent/types.ts'
import { avoiding } from './dropped-tasks.ts'
import { demonstrationTasks } from './fine-tune.ts'
import { boxJob } from './testing/box-job.ts'

/** Ten tasks of each kind. */
const source: TaskSource = {
  kinds: ['open', 'close'],
  task: ({ split, seed, kind = 'open' }): Task => ({
    id: `${kind}-${seed % 10}`,
    kind,
    seed,
    split,
    prompt: '',
    difficulty: 1,
    context: {},
    plan: () => ({ answer: '' }),
  }),
}

const demonstrated = (demonstrations: Record<string, number>): string[] => {
  const plan = { ...boxJob('unused').plan, demonstrations }
  return demonstrationTasks({ plan, seed: 1, tasks: source }).map(({ id }) => id)
}

test('demonstrations are of different tasks, and some again where a kind has too few', () => {
  const few = demonstrated({ open: 5, close: 7 })
  expect(few).toHaveLength(12)
  expect(new Set(few).size).toBe(12)
  const many = demonstrated({ open: 14 })
  expect(many).toHaveLength(14)
  expect(new Set(many).size).toBe(10)
  expect(demonstrated({ open: 5 })).toEqual(demonstrated({ open: 9 }).slice(0, 5))
})

test('reinforcement learning draws tasks that were not demonstrated, as long as a kind has others', () => {
  const draw = (ids: readonly string[]): Set<string> => {
    const shown = new Set(ids)
    const other = avoiding(source, ({ id }) => shown.has(id))
    const seeds = Array.from({ length: 200 }, (_, seed) => seed * 7)
    return new Set(seeds.map((seed) => other.task({ split: 'train', seed, kind: 'open' }).id))
  }
  const half = demonstrated({ open: 5 })
  expect([...draw(half)].filter((id) => half.includes(id))).toEqual([])
  expect(draw(half).size).toBe(5)
  expect(draw(demonstrated({ open: 10 })).size).toBe(10)
})
