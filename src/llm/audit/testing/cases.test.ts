import { describe, expect, test } from 'vitest'
import { score } from '../../reward/reward.ts'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { Expert, Task } from '../../agent/types.ts'
import { judgeCases, laterCases } from './cases.ts'
import { playCase } from './judge-case.ts'
import type { JudgeCase, OpenedCase } from './judge-case.ts'

// The auditor is measured on these cases, so each has to be what it says.

const seeds = Array.from({ length: 12 }, (_, seed) => seed)

function tasksOf({ tasks }: OpenedCase): Task[] {
  return seeds.flatMap((seed) =>
    tasks.kinds.map((kind) => tasks.task({ split: seed % 2 === 0 ? 'train' : 'test', seed, kind })),
  )
}

/** Reward of training: that of the environment, else its success. */
async function rewarded(opened: OpenedCase, task: Task, moves: Expert): Promise<number | null> {
  const limits = { turns: 10, deadlineSeconds: 60, toolDeadlineSeconds: 60, ...opened.limits }
  const actor = createExpertActor({ tasks: new Map([['one', { plan: moves }]]) })
  const [episode] = await runEpisodes([{ id: 'one', group: 'one', task }], actor, opened.environment, limits)
  const reward = opened.reward ?? ((one: typeof episode) => Number(one.success))
  return (await score(reward, episode)).value
}

test('there are at least twelve wrong judges and twelve right ones, and their names differ', () => {
  expect(judgeCases.filter(({ bug }) => bug !== undefined).length).toBeGreaterThanOrEqual(12)
  expect(new Set(judgeCases.map(({ name }) => name)).size).toBe(judgeCases.length)
})

describe.each([...judgeCases, ...laterCases].map((one): [string, JudgeCase] => [one.name, one]))(
  '%s',
  (_, one) => {
    test('experts succeed with both judges and really do their tasks', async () => {
      for (const judge of one.bug === undefined ? (['right'] as const) : (['right', 'wrong'] as const)) {
        const opened = await one.open(judge)
        for (const task of tasksOf(opened))
          expect(await playCase(one, opened, task, task.plan), task.id).toMatchObject({
            success: true,
            done: true,
          })
      }
    })

    test('saying done is neither a success nor done', async () => {
      const opened = await one.open('right')
      for (const task of tasksOf(opened)) {
        const played = await playCase(one, opened, task, () => ({ answer: 'done' }))
        expect(played, task.id).toMatchObject({ success: false, done: false })
      }
    })

    test.runIf(one.exploit)(
      'the bug is there: an undone task is rewarded, and not by the right judge',
      async () => {
        for (const judge of ['right', 'wrong'] as const) {
          const opened = await one.open(judge)
          let cheated = 0
          for (const task of tasksOf(opened)) {
            const moves = one.exploit?.(task) as Expert
            const { done } = await playCase(one, opened, task, moves)
            const gain = (await rewarded(opened, task, moves)) ?? 0
            const expert = (await rewarded(opened, task, task.plan)) ?? 0
            if (!done && gain >= expert) cheated++
          }
          if (judge === 'right') expect(cheated).toBe(0)
          else expect(cheated).toBeGreaterThanOrEqual(seeds.length / 2)
        }
      },
    )
  },
)
