import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { TaskSource, ToolEnvironment } from '../agent/types.ts'
import { createMcpEnvironment } from '../environment/mcp/mcp-environment.ts'
import { createToolsEnvironment } from '../environment/tools/tools-environment.ts'
import type { TrainingEvent } from '../../runs/run-folder.ts'
import type { TrainingSummary } from './types.ts'
import { trainJob } from './loop.ts'
import { faultLines } from './dropped-tasks.ts'
import { boxJob, boxTasks, createBoxEnvironment } from './testing/box-job.ts'

// Servers are processes and may answer slowly on a busy machine. Nothing here depends on time.
const flaky = fileURLToPath(new URL('../environment/mcp/fixtures/flaky-server.mjs', import.meta.url))

interface Played {
  summary: TrainingSummary
  notes: string[]
  folder: string
}

/** A run of a few steps by a model of a few thousand parameters. */
async function play(
  environment: ToolEnvironment,
  tasks: TaskSource,
  demonstrations: number,
): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-dropped-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const usual = boxJob(join(folder, 'run'))
  const { warmStart, reinforcement } = usual.plan
  const plan = {
    ...usual.plan,
    demonstrations: Object.fromEntries(tasks.kinds.map((kind) => [kind, demonstrations])),
    warmStart: { ...warmStart, epochs: 1 },
    reinforcement: { ...reinforcement, steps: 1, groups: 4, groupSize: 2 },
    tasks: { validation: 4, test: 8, unseenParaphrases: 0 },
  }
  const notes: string[] = []
  const onEvent = (event: TrainingEvent): void => {
    if (event.type === 'note') notes.push(event.text)
  }
  const summary = await trainJob({ ...usual, environment, tasks, plan }, { onEvent })
  return { summary, notes, folder: join(folder, 'run') }
}

test('a tool that fails in a fifth of its calls loses its demonstrations, is reported with its rate, and the run continues', async () => {
  const server = { command: process.execPath, args: [flaky] }
  const environment = await createMcpEnvironment({
    name: 'flaky',
    server,
    servers: 1,
    callsPerSecond: 100_000,
  })
  onTestFinished(() => environment.close())
  const counts = { train: 24, validation: 8, test: 8 }
  const { tasks } = await environment.prepareTasks({ seed: 1, counts })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['look_up', 'measure']))
  const { summary, notes, folder } = await play(environment, tasks, 20)

  const { unstableTools = {}, dropped } = summary
  expect(Object.keys(unstableTools)).toEqual(['look_up'])
  const { calls, failed } = unstableTools['look_up']
  // Every fifth call of the process, except for the offset of the count and calls outside demonstrations.
  expect(failed / calls).toBeGreaterThan(0.1)
  expect(failed / calls).toBeLessThan(0.3)
  expect(dropped).toMatchObject({
    demonstrations: failed,
    kinds: [],
    reasons: { 'look_up failed: upstream timed out': failed },
  })
  expect(dropped?.tasks.length).toBeGreaterThan(0)
  const made = Object.values(summary.demonstrations).reduce((sum, count) => sum + count, 0)
  expect(made).toBe(20 * tasks.kinds.length - failed)
  const line = `unstable: look_up failed in ${failed} of ${calls} calls of demonstrations (20%)`.replace(
    /\d+%/,
    `${Math.round((100 * failed) / calls)}%`,
  )
  expect(notes).toContain(line)
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(line)
  expect(summary.stages.map(({ name }) => name)).toEqual(['base', 'warm-start', 'rl'])
})

/** Two tools. The second works while `works` is true. */
async function twoTools(works: () => boolean) {
  const environment = await createToolsEnvironment({
    tools: {
      length: {
        inputSchema: z.object({ text: z.string() }),
        execute: ({ text }: { text: string }) => ({ characters: 1000 + text.length }),
      },
      fragile: {
        inputSchema: z.object({ word: z.string() }),
        execute: ({ word }: { word: string }) => {
          if (!works()) throw new Error('no more')
          return { letters: 2000 + word.length }
        },
      },
    },
  })
  onTestFinished(() => environment.close())
  const { tasks } = await environment.prepareTasks({ seed: 1, counts: { train: 16, validation: 8, test: 8 } })
  return { environment, tasks }
}

test('a kind of which no demonstration succeeds is left out of training and of all stages', async () => {
  let works = true
  const { environment, tasks } = await twoTools(() => works)
  works = false
  const { summary, folder } = await play(environment, tasks, 6)
  const broken = tasks.kinds.filter((kind) => kind.includes('fragile'))
  expect(summary.dropped?.kinds.toSorted()).toEqual(broken.toSorted())
  for (const { kinds } of summary.stages) expect(Object.keys(kinds)).toEqual(['length'])
  expect(new Set(summary.stages.map(({ success }) => success.n)).size).toBe(1)
  const trained = readFileSync(join(folder, 'episodes.jsonl'), 'utf8').trim().split('\n')
  for (const episode of trained) expect(JSON.parse(episode)).toMatchObject({ kind: 'length' })
  expect(faultLines(summary).join('\n')).toMatch(/left out of training and tests: .*fragile/)
})

test('an error says why hardly any demonstration is left', async () => {
  let works = true
  const { environment, tasks } = await twoTools(() => works)
  works = false
  const fragile = { ...tasks, kinds: ['fragile'] }
  await expect(play(environment, fragile, 6)).rejects.toMatchObject({
    code: 'too-few-demonstrations',
    message: 'Only 0 of 6 demonstrations succeeded: too few to learn from',
    given: expect.stringContaining('unstable: fragile failed in 6 of 6 calls'),
    expected: 'at least 1',
  })
})

test('masked episodes say why, grouped, in the summary and the report', async () => {
  const boxes = createBoxEnvironment()
  let judged = 0
  const environment: ToolEnvironment = {
    ...boxes,
    async open(task, options) {
      const session = await boxes.open(task, options)
      return {
        ...session,
        judge: (outcome) =>
          task.split === 'test' && judged++ % 4 === 0
            ? Promise.resolve({ value: null, reason: 'the scales are broken' })
            : session.judge(outcome),
      }
    },
  }
  const { summary, notes, folder } = await play(environment, boxTasks, 6)
  expect(summary.maskedReasons).toEqual({ 'the scales are broken': summary.cost.masked })
  expect(summary.stages[0]).toMatchObject({ masked: 2, maskedReasons: { 'the scales are broken': 2 } })
  expect(notes).toContain('2 of 8 episodes were masked and count nowhere: 2 × the scales are broken')
  // One step on twelve demonstrations. The run warns that this is too short.
  expect(summary.reinforcement).toMatchObject({ steps: 1, groups: 4, judged: 8 })
  expect(summary.remarks?.join('\n')).toContain('too short to show a gain: 12 demonstrations and 1 step')
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain(
    `masked episodes, which count nowhere: ${summary.cost.masked} (${summary.cost.masked} × the scales are broken)`,
  )
})

test('demonstrations that are longer than the window of the model are dropped with that reason, whatever the plan allows', async () => {
  // Every second request is longer than 256 tokens.
  const tasks: TaskSource = {
    ...boxTasks,
    task(options) {
      const task = boxTasks.task(options)
      return task.seed % 2 === 0 ? task : { ...task, prompt: `${task.prompt} ${'please '.repeat(200)}` }
    },
  }
  const { summary, notes } = await play(createBoxEnvironment(), tasks, 20)
  const given = Object.values(summary.demonstrations).reduce((sum, count) => sum + count, 0)
  expect(given).toBeGreaterThan(5)
  expect(given).toBeLessThan(35)
  expect(notes).toContain(
    `demonstrations dropped: ${40 - given} (${40 - given} × the plan does not fit into the limits of an episode (token-limit))`,
  )
})
