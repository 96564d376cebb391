import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeTinyCheckpoint } from '../../llm/agent/testing/tiny-checkpoint.ts'
import { readEpisodes } from '../../llm/episode/codec.ts'
import type { ModelsReport } from '../../llm/training/evaluate-models.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import { train } from '../../llm/training/train.ts'
import {
  createReasoningEnvironment,
  createReasoningTasks,
} from '../../llm/environment/reasoning/environment.ts'
import { agoge } from '../testing/agoge.ts'

const scratch = mkdtempSync(join(tmpdir(), 'agoge-public-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test.each([
  ['qwen', 'qwen3'],
  ['qwen', 'qwen2'],
  ['llama', 'llama'],
] as const)(
  'a checkpoint of the layout %s of type %s is evaluated by its chat template',
  async (kind, modelType) => {
    const folder = await writeTinyCheckpoint(join(scratch, modelType), { family: kind, modelType })
    const json = join(scratch, `${modelType}.json`)
    const { code, err } = await agoge('eval', 'filesystem', '--model', folder, '--tasks', '3', '--json', json)
    expect(err).not.toContain('masked')
    expect(code).toBe(0)
    const report = JSON.parse(readFileSync(json, 'utf8')) as ModelsReport
    expect(report.models[0]).toMatchObject({ success: { mean: 0, n: 3 } })
  },
)

test('a public checkpoint is trained: warm start by its template, then reinforcement learning', async () => {
  const model = await writeTinyCheckpoint(join(scratch, 'start'), { window: 640 })
  const out = join(scratch, 'run')
  const tasks = createReasoningTasks({ kinds: ['sorting'] })
  await train({
    environment: createReasoningEnvironment(),
    tasks,
    model,
    out,
    demonstrations: 8,
    plan: {
      warmStart: { ...smallModelPlan.warmStart, batch: 4, epochs: 1, validateEvery: 8 },
      reinforcement: { ...smallModelPlan.reinforcement, steps: 1, groups: 2, groupSize: 4 },
      tasks: { validation: 2, test: 2, unseenParaphrases: 0 },
    },
  })
  const episodes = readEpisodes(join(out, 'episodes.jsonl'))
  expect(episodes.length).toBeGreaterThan(0)
  const { samples, nodes } = episodes[0]
  // The prompt by the template stands in front of what was sampled, and does not train.
  expect(samples[0].mask[0]).toBe(0)
  expect(samples[0].mask.at(-1)).toBe(1)
  expect(nodes[samples[0].output].tokens.length).toBe(samples[0].mask.length)
  expect(existsSync(join(out, 'checkpoints', 'final', 'chat_template.jinja'))).toBe(true)
  // What was trained is as good a model as what it came from.
  expect((await agoge('eval', 'reasoning', '--model', out, '--tasks', '2')).code).toBe(0)
})

test('a base model without a template says so before anything is begun', async () => {
  const folder = await writeTinyCheckpoint(join(scratch, 'base'))
  for (const file of ['chat_template.jinja', 'checksums.sha256']) rmSync(join(folder, file))
  const { code, err } = await agoge('eval', 'reasoning', '--model', folder, '--tasks', '1')
  expect(code).toBe(1)
  expect(err).toContain('no chat template')
})
