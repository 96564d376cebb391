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
