import { generateText, stepCountIs, tool } from 'ai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AgogeError } from '../../../error.ts'
import type { FileTask } from '../../environment/mcp/goals/task-file.ts'
import { evaluate } from '../evaluate.ts'
import { scripted } from '../testing/scripted-model.ts'
import { train } from '../train.ts'
import { splitTasks } from './split-tasks.ts'
import { letters, short, tinyConfig, trained } from './testing/tiny-training.ts'
import type { TrainConfigEvent } from './train-config.ts'

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

test('SFT on the successful episodes of another model comes first, and nothing acts again', async () => {
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
