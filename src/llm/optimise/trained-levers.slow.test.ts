import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { evaluate } from '../project/evaluate.ts'
import type { AgogeConfig } from '../project/config.ts'
import { run } from '../project/config.ts'
import { scripted } from '../project/testing/scripted-model.ts'
import { letters, letterShare, tinyConfig } from '../project/training/testing/tiny-training.ts'
import { optimise, type OptimiseEvent, type OptimiseOptions } from './optimise.ts'

const named = (split: 'train' | 'validation' | 'test', count: number): FileTask[] =>
  letters(count).map((task) => ({ ...task, id: `${split}-${task.id}`, split }))

const tokens = 400_000

/** A model of random weights. With a share of 0.3, it says enough letters in about half of the trials. */
const learnable = (share = 0.3): ReturnType<typeof tinyConfig> =>
  tinyConfig({
    tasks: [...named('train', 24), ...named('validation', 24), ...named('test', 60)],
    score: (trial) => Number(letterShare(trial) > share),
    maxOutputTokens: 3,
    budget: { tokens },
  })

async function searched(config: AgogeConfig, options: OptimiseOptions) {
  const events: OptimiseEvent[] = []
  const running = optimise(config, { learningRate: 0.02, ...options })
  for await (const event of running) events.push(event)
  const result = await running.result
  if (result === null) throw new Error('a dry run')
  return { result, events }
}

test('rl gains on tasks that nothing saw; its setup is evaluated beside the original', async () => {
  const { config, folder } = await learnable()
  const out = join(folder, 'search')
  const { result } = await searched(config, { folder, out, levers: ['rl'] })
  expect(result).toMatchObject({ isShown: true, best: { lever: 'rl' } })
  expect(result.spent.tokens).toBeLessThanOrEqual(tokens)
  const { models } = await evaluate({ ...config, setup: join(out, 'setup.json') }, { folder }).result
  expect(models.map(({ name }) => name)).toEqual(['model', 'setup'])
  expect(models[1].success.mean).toBeGreaterThan(models[0].success.mean + 0.2)
}, 280_000)

test('rl trains with the prompt that another lever has found', async () => {
  const { config, folder } = await tinyConfig({
    tasks: [...named('train', 24), ...named('validation', 24), ...named('test', 60)],
    // Nothing succeeds without the instruction, so that training without it has nothing to learn from.
    score: (trial) =>
      Number(trial.nodes.some(({ text }) => text.includes('Say more')) && letterShare(trial) > 0.3),
    maxOutputTokens: 3,
    budget: { tokens },
    optimise: { proposer: () => Promise.resolve(['Say more']) },
  })
  const { result } = await searched(config, {
    folder,
    out: join(folder, 'search'),
    levers: ['instructions', 'rl'],
  })
  const gain = (name: string): number => result.levers.find((lever) => lever.name === name)?.gain ?? 0
  expect(gain('instructions')).toBeGreaterThan(0.2)
  expect(gain('rl')).toBeGreaterThan(gain('instructions'))
  expect(result.best?.setup).toMatchObject({
    instructions: { text: 'Say more' },
    model: expect.stringMatching(/^rl-/),
  })
}, 280_000)

test('sft learns from the successes of another model, and gains more than that on tasks that nothing saw; a continued search trains nothing again', async () => {
  const { config, folder } = await learnable(0.9)
  let calls = 0
  const teacher = scripted(() => (calls++ % 10 < 7 ? 'a' : '...'))
  const own = { ...config, models: [run('model'), teacher] }
  const out = join(folder, 'search')
  const options = { folder, out, levers: ['model-choice', 'sft'] }
  const { result } = await searched(own, options)
  expect(result).toMatchObject({ isShown: true, best: { lever: 'sft' } })
  // The teacher is right in seven of ten trials.
  expect(result.test?.models[1].success.mean).toBeGreaterThan(0.85)
  expect(result.spent.tokens).toBeLessThanOrEqual(tokens)
  const asked = calls
  const weights = join(out, 'trained', 'sft-0', 'model.safetensors')
  const before = readFileSync(weights)
  const again = await searched(own, { ...options, resume: true })
  expect(again.result).toEqual(result)
  expect(calls).toBe(asked)
  expect(readFileSync(weights).equals(before)).toBe(true)
}, 280_000)

test('a training that was interrupted is made again, and charged once', async () => {
  const { config, folder } = await learnable()
  const out = join(folder, 'search')
  const stop = new AbortController()
  const options = { folder, out, levers: ['rl'] }
  const running = optimise(config, { learningRate: 0.02, ...options, signal: stop.signal })
  const journal = join(out, 'journal.jsonl')
  const watch = setInterval(() => {
    if (existsSync(journal) && readFileSync(journal, 'utf8').includes('train/rl-0'))
      stop.abort(new Error('enough'))
  }, 50)
  await expect(running.result).rejects.toThrow('enough')
  clearInterval(watch)
  expect(existsSync(join(out, 'trained', 'rl-0'))).toBe(false)
  const { result } = await searched(config, { ...options, resume: true })
  const sent = readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"sent"') && line.includes('train/rl-0'))
  expect(sent).toHaveLength(1)
  expect(result.spent.tokens).toBeLessThanOrEqual(tokens)
  const whole = join(folder, 'whole')
  rmSync(whole, { recursive: true, force: true })
  const other = await searched(config, { folder, out: whole, levers: ['rl'] })
  expect(result.best).toEqual(other.result.best)
}, 280_000)
