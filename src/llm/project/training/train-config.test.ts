import { generateText, tool } from 'ai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readEpisodes } from '../../episode/codec.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import { run } from '../config.ts'
import { evaluate } from '../evaluate.ts'
import { train } from '../train.ts'
import { splitTasks } from './split-tasks.ts'
import { letters, letterShare, short, tinyConfig, trained } from './testing/tiny-training.ts'
import { describeGain } from './training-text.ts'

test('a model learns to be the agent of a config, and is compared on tasks that training did not see', async () => {
  const { config, folder } = await tinyConfig()
  const out = join(folder, 'out')
  const { events, evaluation, steps } = await trained(config, {
    ...short,
    steps: 10,
    groups: 2,
    groupSize: 32,
    learningRate: 0.03,
    folder,
    out,
  })
  expect(steps).toBe(10)
  expect(evaluation.models.map(({ name }) => name)).toEqual(['before', 'trained'])
  const split = splitTasks(letters(40))
  const seen = new Set(readEpisodes(join(out, 'episodes.jsonl')).map(({ task }) => task))
  for (const { id } of [...split.test, ...split.validation]) expect(seen).not.toContain(id)
  const tested = new Set(evaluation.records.map(({ task }) => task))
  expect(tested).toEqual(new Set(split.test.map(({ id }) => id)))
  const rewards = events.flatMap((event) =>
    event.type === 'training' && event.event.type === 'step' && event.event.phase === 'rl'
      ? [event.event.metrics['reward']]
      : [],
  )
  expect(Math.max(...rewards.slice(-3))).toBeGreaterThan(rewards[0] + 0.1)
  expect(existsSync(join(out, 'evaluation', 'evaluation.json'))).toBe(true)
  // The run is a model of a config like any other.
  const again = await evaluate({ ...config, models: [run(out)], tasks: letters(2) }, { folder }).result
  expect(again.models[0]).toMatchObject({ name: 'out', trials: 2, masked: 0 })
})

test('the plan counts what tools do, and a refused plan ends the training before any call', async () => {
  let calls = 0
  const look = tool({ inputSchema: z.object({}), execute: () => String(++calls) })
  const { config, folder } = await tinyConfig({ tools: { look: { tool: look, mode: 'run' } } })
  const out = join(folder, 'out')
  let shown = ''
  const onPlan = async (plan: string): Promise<void> => {
    shown = plan
    throw new Error('no')
  }
  await expect(train(config, { ...short, folder, out, onPlan }).result).rejects.toThrow('no')
  const { test: tested, validation } = splitTasks(letters(40))
  const runs = 3 * 4 * 6 + 3 * validation.length + 2 * tested.length
  expect(shown).toContain(`look acts for real in each of these ${runs} runs`)
  expect(calls).toBe(0)
})

test('a tool that fails masks a rollout, and a scorer that cannot judge too: neither becomes a reward', async () => {
  let calls = 0
  const flaky = tool({
    inputSchema: z.object({}),
    execute: () => {
      if (++calls % 3 === 0) throw new InfrastructureError('it is down')
      return 'up'
    },
  })
  const { config, folder } = await tinyConfig({
    tools: { flaky: { tool: flaky, mode: 'run' } },
    agent: async (task, { model, tools, trial }) => {
      await tools['flaky'].execute({})
      const { text } = await generateText({ model, prompt: task.prompt, maxOutputTokens: 3 })
      return trial % 3 === 1 ? 'unjudgeable' : text
    },
    score: (one) => (one.output === 'unjudgeable' ? null : letterShare(one)),
  })
  const { events } = await trained(config, { ...short, folder, out: join(folder, 'out') })
  const episodes = readEpisodes(join(folder, 'out', 'episodes.jsonl'))
  const masked = episodes.filter(({ status }) => status === 'masked')
  expect(masked.length).toBeGreaterThan(episodes.length / 4)
  expect(masked.every(({ success, error }) => success === null && error !== undefined)).toBe(true)
  expect(masked.some(({ error }) => error?.includes('it is down'))).toBe(true)
  expect(masked.some(({ error }) => error?.includes('could not be judged'))).toBe(true)
  expect(events.at(-1)?.type).toBe('result')
})

test.each([
  [0, 'agoge optimise'],
  [1, 'take harder ones'],
])('where all rollouts score %d, training says early that nothing can be learnt', async (score, hint) => {
  const { config, folder } = await tinyConfig({ score: () => score })
  const out = join(folder, 'out')
  await expect(train(config, { ...short, steps: 50, folder, out }).result).rejects.toMatchObject({
    code: 'nothing-to-learn',
    given: `72 rollouts, of which ${72 * score} succeeded`,
    hint: expect.stringContaining(hint) as string,
  })
})

test('with a limit of time training makes fewer steps, and the evaluations are complete', async () => {
  const { config, folder } = await tinyConfig()
  const { steps, evaluation } = await trained(config, {
    ...short,
    steps: 400,
    minutes: 0.08,
    folder,
    out: join(folder, 'out'),
  })
  expect(steps).toBeLessThan(400)
  expect(evaluation.isComplete).toBe(true)
})

test('tasks are split by what they say, or else by a hash that further tasks do not move', () => {
  const few = splitTasks(letters(60))
  const more = splitTasks(letters(200))
  expect(few.isMarked).toBe(false)
  for (const name of ['train', 'validation', 'test'] as const)
    expect(more[name].map(({ id }) => id)).toEqual(expect.arrayContaining(few[name].map(({ id }) => id)))
  expect(more.train.length).toBeGreaterThan(100)
  const marked = letters(20).map((task, at) => (at < 15 ? { ...task, split: 'train' as const } : task))
  const split = splitTasks(marked)
  expect(split.test.map(({ id }) => id)).toEqual(['t15', 't16', 't17', 't18', 't19'])
  expect(split.train.length + split.validation.length).toBe(15)
  expect(split.validation.length).toBeGreaterThan(0)
  expect(() => splitTasks(letters(2))).toThrow(/there is no task for/)
})

test('a gain is claimed only if its interval is clear of zero', () => {
  const result = (mean: number, low: number, high: number) =>
    ({ comparisons: [{ a: 'trained', b: 'before', mean, low, high, n: 50 }] }) as unknown as Parameters<
      typeof describeGain
    >[0]
  expect(describeGain(result(0.1, 0.02, 0.18))).toMatch(/^the trained model is better/)
  expect(describeGain(result(0.1, -0.01, 0.21))).toMatch(/^no gain is shown/)
  expect(describeGain(result(-0.1, -0.2, -0.01))).toMatch(/^the trained model is worse/)
})
