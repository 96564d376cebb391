import { expect, test } from 'vitest'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import { adventureEnvironment } from './tool-environment.ts'

const adventureTasks = adventureEnvironment.tasks
type AdventureTask = ReturnType<typeof adventureTasks.task>

const limits = { turns: 30, deadlineSeconds: 600, toolDeadlineSeconds: 120 }

const play = async (tasks: readonly AdventureTask[]) => {
  const specs = tasks.map((task) => ({ id: task.id, group: task.id, task }))
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  return runEpisodes(specs, expert, await adventureEnvironment.create(), limits)
}

test('playing the plan fulfils every quest, and doing something else does not', async () => {
  const tasks = Array.from({ length: 24 }, (_, seed) => adventureTasks.task({ split: 'test', seed }))
  const episodes = await play(tasks)
  expect(episodes.map(({ success }) => success)).toEqual(tasks.map(() => true))
  const idle = tasks.map((task): AdventureTask => ({
    ...task,
    plan: (results) =>
      results.length < 2
        ? { call: { name: 'type', arguments: { command: 'fly away!' } } }
        : { answer: 'done' },
  }))
  const lost = await play(idle)
  expect(lost.map(({ success, status }) => [success, status])).toEqual(tasks.map(() => [false, 'ok']))
  expect(lost[0].nodes.some(({ text }) => text.includes('!'))).toBe(true)
})

test('quests differ by split, seed and kind, and are the same again', () => {
  const all = (['train', 'validation', 'test'] as const).flatMap((split) =>
    [0, 1, 2, 3].map((seed) => adventureTasks.task({ split, seed })),
  )
  expect(new Set(all.map(({ context }) => context.scene)).size).toBe(all.length)
  expect(all.map(({ kind }) => kind).slice(0, 2)).toEqual(['open', 'locked'])
  const { plan: _, ...again } = adventureTasks.task({ split: 'train', seed: 3 })
  expect(all[3]).toMatchObject(again)
  expect(() => adventureTasks.task({ split: 'train', seed: 1, kind: 'dragons' })).toThrow(
    expect.objectContaining({ code: 'unknown-kind' }),
  )
})
