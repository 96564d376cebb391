import { generateText, stepCountIs, tool } from 'ai'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { AgogeError } from '../../../error.ts'
import { writeTinyCheckpoint } from '../../agent/testing/tiny-checkpoint.ts'
import { readEpisodes } from '../../episode/codec.ts'
import type { FileTask } from '../../environment/mcp/goals/task-file.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import { type AgogeConfig, defineConfig, run } from '../config.ts'
import { evaluate } from '../evaluate.ts'
import { scripted } from '../testing/scripted-model.ts'
import { train } from '../train.ts'
import { splitTasks } from './split-tasks.ts'
import type { TrainConfigEvent, TrainConfigOptions, TrainConfigResult } from './train-config.ts'
import { trainingVerdict } from './training-text.ts'

async function temporary(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-train-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const letters = (count: number): FileTask[] =>
  Array.from({ length: count }, (_, at) => ({ id: `t${at}`, kind: 'letters', prompt: 'Say a letter' }))

/** The share of an answer that is letters: a model of random weights has some of it. */
function letterShare({ output }: { output: unknown }): number {
  const text = String(output)
  return text === '' ? 0 : [...text].filter((one) => /[a-z]/.test(one)).length / [...text].length
}

const agent: AgogeConfig['agent'] = async (task, { model, signal }) =>
  (await generateText({ model, prompt: task.prompt, maxOutputTokens: 3, abortSignal: signal })).text

async function tinyConfig(
  changes: Partial<AgogeConfig> = {},
  window = 200,
): Promise<{ config: AgogeConfig; folder: string }> {
  const folder = await temporary()
  await writeTinyCheckpoint(folder, { window })
  const config = defineConfig({ agent, tasks: letters(40), score: letterShare, models: [run('model')] })
  return { config: { ...config, ...changes }, folder }
}

async function trained(
  config: AgogeConfig,
  options: TrainConfigOptions,
): Promise<{ events: TrainConfigEvent[] } & TrainConfigResult> {
  const running = train(config, options)
  const events: TrainConfigEvent[] = []
  for await (const event of running) events.push(event)
  return { events, ...(await running.result) }
}

const short = { steps: 3, groups: 4, groupSize: 6, learningRate: 0.02, validateEvery: 2 }

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

test('a training that was stopped continues with the same weights, and repeats no call', async () => {
  const { config, folder } = await tinyConfig()
  const weights = (out: string): Buffer =>
    readFileSync(join(out, 'checkpoints', 'final', 'model.safetensors'))
  await trained(config, { ...short, folder, out: join(folder, 'whole') })
  const stop = new AbortController()
  const out = join(folder, 'stopped')
  const running = train(config, { ...short, folder, out, signal: stop.signal })
  for await (const event of running) {
    if (event.type === 'training' && event.event.type === 'step' && event.event.phase === 'rl') break
  }
  stop.abort(new Error('enough'))
  await expect(running.result).rejects.toThrow('enough')
  const { evaluation, events } = await trained(config, { ...short, folder, out, resume: true })
  expect(weights(out).equals(weights(join(folder, 'whole')))).toBe(true)
  expect(evaluation.isComplete).toBe(true)
  expect(events.some((event) => event.type === 'trial' && event.arm === 'before')).toBe(false)
  // Finished: nothing is left to do.
  const finished = await trained(config, { ...short, folder, out, resume: true })
  expect(finished.evaluation).toEqual(evaluation)
  await expect(train(config, { ...short, steps: 4, folder, out, resume: true }).result).rejects.toMatchObject(
    {
      code: 'bad-run-folder',
    },
  )
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

test('successful episodes of another model are imitated first, without acting again', async () => {
  let acted = 0
  const stock = tool({
    inputSchema: z.object({ article: z.string() }),
    execute: () => `${(acted++, 4)} left`,
  })
  const tasks: FileTask[] = letters(40).map((task) => ({ ...task, expected: { answer: 4 } }))
  const { config, folder } = await tinyConfig(
    {
      tasks,
      tools: { stock: { tool: stock, mode: 'run' } },
      agent: async (task, { model, tools }) =>
        (
          await generateText({
            model,
            tools,
            prompt: task.prompt,
            stopWhen: stepCountIs(3),
            maxOutputTokens: 40,
          })
        ).text,
      score: ({ output }) => Number(String(output).includes('4')),
    },
    2000,
  )
  // A larger model, played by a script.
  const teacher = scripted(({ prompt }) =>
    prompt.length > 1 ? '4' : { tool: 'stock', input: { article: 'lamp' } },
  )
  const shown = join(folder, 'shown')
  await evaluate({ ...config, models: [teacher] }, { folder, out: shown }).result
  const before = acted
  expect(before).toBe(40)
  const out = join(folder, 'out')
  const events: TrainConfigEvent[] = []
  const running = train(config, { ...short, folder, out, demonstrations: 'shown' })
  try {
    for await (const event of running) {
      events.push(event)
      if (event.type === 'demonstrations') expect(acted).toBeLessThanOrEqual(before + 40)
    }
  } catch (error) {
    // Four passes over so few do not always make such a model solve a task.
    expect(error, String((error as AgogeError).given)).toMatchObject({ code: 'nothing-to-learn' })
  }
  const { train: own } = splitTasks(tasks)
  const counts = events.find(({ type }) => type === 'demonstrations')
  expect(counts).toMatchObject({
    counts: { used: own.length, otherTasks: 40 - own.length, failed: 0, tooLong: 0, unlike: 0 },
  })
  const losses = events.flatMap((event) =>
    event.type === 'training' && event.event.type === 'step' && event.event.phase === 'fine-tune'
      ? [event.event.metrics['loss']]
      : [],
  )
  expect(losses.at(-1)).toBeLessThan(losses[0])
})

test('the references of tasks are demonstrations too; a run without any says what it left out', async () => {
  const tasks: FileTask[] = letters(40).map((task) => ({ ...task, expected: { answer: 'a' } }))
  const { config, folder } = await tinyConfig({
    tasks,
    score: ({ output }) => Number(String(output).includes('a')),
  })
  const { events } = await trained(config, {
    ...short,
    folder,
    out: join(folder, 'out'),
    demonstrations: 'tasks',
  })
  const used = splitTasks(tasks).train.length
  expect(events).toContainEqual({
    type: 'demonstrations',
    counts: { used, otherTasks: 0, failed: 0, tooLong: 0, unlike: 0 },
  })
  const none = { ...config, tasks: letters(40) }
  await expect(
    train(none, { ...short, folder, out: join(folder, 'none'), demonstrations: 'tasks' }).result,
  ).rejects.toMatchObject({ code: 'too-few-demonstrations' })
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
      typeof trainingVerdict
    >[0]
  expect(trainingVerdict(result(0.1, 0.02, 0.18))).toMatch(/^the trained model is better/)
  expect(trainingVerdict(result(0.1, -0.01, 0.21))).toMatch(/^no gain is shown/)
  expect(trainingVerdict(result(-0.1, -0.2, -0.01))).toMatch(/^the trained model is worse/)
})
