import { expect, test } from 'vitest'
import type { Task, TaskSource } from '../agent/types.ts'
import { createTaskSampler, learningWeight } from './task-sampler.ts'

const source: TaskSource = {
  kinds: ['easy', 'middle', 'failing'],
  task: ({ split, seed, kind = 'easy' }): Task => ({
    id: `${kind}-${seed}`,
    kind,
    seed,
    split,
    prompt: '',
    difficulty: 1 + (seed % 2),
    context: {},
    plan: () => ({ answer: '' }),
  }),
}

const prior = { easy: 1, middle: 0.5, failing: 0 }

function shares(tasks: Task[]): Record<string, number> {
  return Object.fromEntries(
    source.kinds.map((kind) => [kind, tasks.filter((task) => task.kind === kind).length / tasks.length]),
  )
}

test('kinds are drawn by their learning potential, and each is drawn sometimes', () => {
  const sampler = createTaskSampler({ source, split: 'train', seed: 1, prior })
  const total = learningWeight(1) + learningWeight(0.5) + learningWeight(0)
  const drawn = shares(Array.from({ length: 50 }, () => sampler.draw(16)).flat())
  expect(drawn['middle']).toBeCloseTo(learningWeight(0.5) / total, 1)
  expect(drawn['failing']).toBeCloseTo(learningWeight(0) / total, 1)
  expect(drawn['easy']).toBeGreaterThan(0)
  expect(drawn['easy']).toBeCloseTo(learningWeight(1) / total, 2)
  expect(drawn['middle']).toBeGreaterThan(drawn['failing'])
  expect(drawn['failing']).toBeGreaterThan(drawn['easy'])
})

test('within a kind the difficulty that teaches more is preferred', () => {
  const sampler = createTaskSampler({ source, split: 'train', seed: 2, prior })
  for (let i = 0; i < 60; i++) {
    sampler.observe(source.task({ split: 'train', seed: 0, kind: 'easy' }), 1)
    sampler.observe(source.task({ split: 'train', seed: 1, kind: 'easy' }), i % 2)
  }
  const easy = Array.from({ length: 60 }, () => sampler.draw(16))
    .flat()
    .filter((task) => task.kind === 'easy')
  const hard = easy.filter((task) => task.difficulty === 2).length / easy.length
  expect(hard).toBeGreaterThan(0.65)
  expect(hard).toBeLessThan(1)
})

test('a restored sampler continues like the original', () => {
  const one = createTaskSampler({ source, split: 'train', seed: 3, prior })
  for (const task of one.draw(16)) one.observe(task, 0.25)
  const state = JSON.parse(JSON.stringify(one.state()))
  const two = createTaskSampler({ source, split: 'train', seed: 3 })
  two.restore(state)
  expect(two.draw(16).map(({ id }) => id)).toEqual(one.draw(16).map(({ id }) => id))
  expect(one.draw(16).map(({ id }) => id)).not.toEqual(two.state().drawn)
  expect(two.kinds).toEqual(one.kinds)
})

test('tasks of mixed groups are played again, at most half of the remembered ones', () => {
  const sampler = createTaskSampler({ source, split: 'train', seed: 4, prior, replay: 0.5 })
  const first = sampler.draw(16)
  const [mixed, solved, failed] = [first.slice(0, 10), first.slice(10, 13), first.slice(13)]
  for (const task of mixed) sampler.observe(task, 0.5)
  for (const task of solved) sampler.observe(task, 1)
  for (const task of failed) sampler.observe(task, 0)
  const known = new Set(mixed.map(({ id }) => id))
  const again = sampler.draw(16).filter(({ id }) => known.has(id))
  expect(again).toHaveLength(5)
  const kinds = { ...sampler.kinds }
  for (const task of again) sampler.observe(task, 1)
  expect(sampler.state().mixed).toHaveLength(5)
  // What is replayed says nothing about its kind.
  expect(sampler.kinds).toEqual(kinds)
  for (const task of sampler.draw(16)) if (known.has(task.id)) sampler.observe(task, 1)
  const left = createTaskSampler({ source, split: 'train', seed: 4, replay: 0.5 })
  left.restore(JSON.parse(JSON.stringify(sampler.state())))
  expect(left.draw(16).map(({ id }) => id)).toEqual(sampler.draw(16).map(({ id }) => id))
})

test('a task with a larger variance of success is replayed more often', () => {
  const sampler = createTaskSampler({ source, split: 'train', seed: 5, prior, replay: 0.25 })
  const tasks = Array.from({ length: 20 }, (_, at) =>
    source.task({ split: 'train', seed: 1000 + at, kind: 'middle' }),
  )
  for (const [at, task] of tasks.entries()) sampler.observe(task, at < 10 ? 0.5 : 0.95)
  const drawn = Array.from({ length: 30 }, () => sampler.draw(16)).flat()
  const count = (some: readonly Task[]): number =>
    drawn.filter(({ id }) => some.some((task) => task.id === id)).length
  expect(count(tasks.slice(0, 10))).toBeGreaterThan(2 * count(tasks.slice(10)))
})

test('nothing is remembered without replay', () => {
  const sampler = createTaskSampler({ source, split: 'train', seed: 6, prior })
  for (const task of sampler.draw(16)) sampler.observe(task, 0.5)
  expect(sampler.state().mixed).toBeUndefined()
})
