import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { Actor } from '../../agent/types.ts'
import { createReasoningEnvironment, createReasoningTasks, reasoningReward } from './environment.ts'
import { reasoningKinds } from './kinds/index.ts'

const limits = { turns: 1, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
const environment = createReasoningEnvironment()

test('the expert solves a question of every kind, in the words of every split', async () => {
  const tasks = createReasoningTasks()
  expect(tasks.kinds).toHaveLength(reasoningKinds.length)
  for (const split of ['train', 'validation', 'test', 'unseen-paraphrase'] as const) {
    const specs = tasks.kinds.map((kind, seed) => {
      const task = tasks.task({ split, seed, kind })
      expect(task.prompt).not.toMatch(/<\w+>/)
      return { id: `${split} ${kind}`, group: kind, task }
    })
    const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
    const episodes = await runEpisodes(specs, expert, environment, limits)
    expect(episodes.filter((episode) => episode.success !== true)).toEqual([])
    expect(episodes.every((episode) => reasoningReward()(episode) !== null)).toBe(true)
  }
})

test('a partly right answer fails and gets partial credit', async () => {
  const tasks = createReasoningTasks({ kinds: ['countdown'], difficulty: [1] })
  const task = tasks.task({ split: 'test', seed: 1 })
  const given = task.problem.solve().answer.match(/\d+/g) ?? []
  const operator = task.problem.solve().answer.includes('+') ? '*' : '+'
  const says: Actor = {
    ...createExpertActor({ tasks: new Map() }),
    act: (requests) =>
      Promise.resolve(
        requests.map(() => ({
          text: `Answer: ${given.join(` ${operator} `)}`,
          calls: [],
          finish: 'stop' as const,
          tokens: new Int32Array(0),
          logprobs: new Float32Array(0),
          mask: new Uint8Array(0),
          weightVersion: 0,
          promptTokens: 0,
        })),
      ),
  }
  const [episode] = await runEpisodes([{ id: 'e', group: 'g', task }], says, environment, limits)
  expect(episode.success).toBe(false)
  expect(episode.status).toBe('ok')
  expect(episode.rewards).toEqual([
    { agent: 'agent', name: 'part:score', value: 0.1 },
    { agent: 'agent', name: 'score', value: 0.1 },
  ])
  expect(reasoningReward()(episode)).toMatchObject({ parts: { success: 0, partial: 0.2 * 0.1 } })
  expect(reasoningReward({ partial: 0 })(episode)).toMatchObject({ value: 0 })
  expect(reasoningReward()({ ...episode, success: null })).toBeNull()
})

test('the same split and seed give the same task, and all levels are equally likely', () => {
  const tasks = createReasoningTasks({ kinds: ['sorting', 'clock'], difficulty: [1, 3] })
  const drawn = Array.from({ length: 60 }, (_, seed) => tasks.task({ split: 'train', seed }))
  expect(drawn.map(({ kind }) => kind).slice(0, 3)).toEqual(['sorting', 'clock', 'sorting'])
  expect(tasks.task({ split: 'train', seed: 7 }).prompt).toBe(drawn[7].prompt)
  expect(tasks.task({ split: 'test', seed: 7 }).prompt).not.toBe(drawn[7].prompt)
  const hard = drawn.filter(({ difficulty }) => difficulty === 3).length
  expect(hard).toBeGreaterThan(15)
  expect(hard).toBeLessThan(45)
  expect(drawn.some(({ difficulty }) => difficulty === 2)).toBe(false)
})

test('a difficulty can be given by its controls', () => {
  const tasks = createReasoningTasks({
    kinds: ['countdown'],
    difficulty: { numbers: 5, largest: 50, target: 300 },
  })
  const { context, problem } = tasks.task({ split: 'train', seed: 1 })
  expect(context).toEqual({ numbers: 5, largest: 50, target: 300 })
  expect(problem.solve().answer.match(/\d+/g)).toHaveLength(5)
})

test('unknown kinds and levels are refused when the source is made', () => {
  expect(() => createReasoningTasks({ kinds: ['countdwn'] })).toThrow('"countdwn"')
  expect(() => createReasoningTasks({ kinds: [] })).toThrow('no kind of question')
  expect(() => createReasoningTasks({ difficulty: [7] })).toThrow('no level 7')
  expect(() => createReasoningTasks({ difficulty: { numbers: 3 } })).toThrow('largest = undefined')
  expect(() =>
    createReasoningTasks({ kinds: ['clock'] }).task({ split: 'train', seed: 1, kind: 'sorting' }),
  ).toThrow('"sorting"')
})

test('the page has every kind with its controls and their values at the three levels', () => {
  const page = readFileSync(new URL('../../../../docs/guides/reasoning.md', import.meta.url), 'utf8')
  for (const { name, about, knobs, levels } of reasoningKinds) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` `)) ?? ''
    expect(row).toContain(about)
    for (const [knob, { least, most }] of Object.entries(knobs))
      expect(row).toContain(`\`${knob}\` ${least}–${most}: ${levels.map((level) => level[knob]).join(', ')}`)
  }
  expect(page).toContain(`in ${reasoningKinds.length} kinds`)
})
