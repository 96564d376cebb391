import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MetricsRecord } from '../../runs/run-folder.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { trainJob } from './loop.ts'
import { trainingMethods } from './method-list.ts'
import type { MethodName } from './method-list.ts'
import { openMethod } from './methods.ts'
import { boxJob } from './testing/box-job.ts'
import type { TrainJobOptions } from './types.ts'

let root: string
beforeAll(() => (root = mkdtempSync(join(tmpdir(), 'agoge-methods-'))))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A run with a method. The teacher of distillation is the initial model. */
async function job(name: MethodName, path: string): Promise<TrainJobOptions> {
  const { plan, backend: open, ...options } = boxJob(path)
  const teacher = name === 'distillation' ? await open() : undefined
  const { algorithm, batch, backend } = openMethod(name, open, { seed: 5, teacher })
  return {
    ...options,
    algorithm,
    backend,
    plan: {
      ...plan,
      warmStart: { ...plan.warmStart, epochs: 6 },
      reinforcement: { ...plan.reinforcement, ...batch, groups: 3, groupSize: 6, steps: 4, validateEvery: 0 },
      tasks: { validation: 4, test: 6, unseenParaphrases: 0 },
      checkpointEvery: 2,
    },
  }
}

const weights = (path: string): Buffer =>
  readFileSync(join(path, 'checkpoints', 'final', 'model.safetensors'))

const rlMetrics = (path: string): Record<string, number>[] =>
  openRunFolder({ path })
    .lines('metrics.jsonl')
    .map((line) => JSON.parse(line) as MetricsRecord)
    .filter(({ phase }) => phase === 'rl')
    .map(({ metrics }) => metrics)

const measures: Record<MethodName, string> = {
  'online-dpo': 'pairs',
  'online-ipo': 'pairs',
  'online-orpo': 'pairs',
  'online-simpo': 'pairs',
  'expert-iteration': 'kept',
  distillation: 'reverseKl',
  ppo: 'valueLoss',
  archer: 'criticLoss',
}

test.each(Object.keys(trainingMethods) as MethodName[])(
  '%s trains on an environment, evaluates before and after, and a run that lost its power ends with the same weights',
  async (name) => {
    const [whole, stopped] = [join(root, name), join(root, `${name}-stopped`)]
    const { stages } = await trainJob(await job(name, whole), {
      onEvent(event) {
        if (event.type === 'step' && event.phase === 'rl' && event.step === 3)
          cpSync(whole, stopped, { recursive: true })
      },
    })
    expect(stages.map((stage) => stage.name)).toEqual(['base', 'warm-start', 'rl'])
    const steps = rlMetrics(whole)
    expect(
      steps.some((metrics) => measures[name] in metrics && Number.isFinite(metrics[measures[name]])),
    ).toBe(true)
    const start = readFileSync(join(stopped, 'checkpoints', 'rl-2', 'model.safetensors'))
    // It learns: weights change after the checkpoint.
    if (steps[3]['loss'] !== undefined) expect(weights(whole).equals(start)).toBe(false)
    const isCritic = name === 'ppo' || name === 'archer'
    expect(existsSync(join(stopped, 'checkpoints', 'rl-2', 'critic-1'))).toBe(isCritic)
    await trainJob({ ...(await job(name, stopped)), resume: true })
    expect(weights(stopped).equals(weights(whole))).toBe(true)
  },
)

test('distillation without a teacher is refused, and a critic without weights to begin with', async () => {
  const { backend: open } = boxJob(join(root, 'none'))
  expect(() => openMethod('distillation', open, { seed: 1 })).toThrow(/needs a teacher/)
  const remote = async () => ({ ...(await open()), parameters: undefined, config: undefined })
  const options = await job('ppo', join(root, 'remote'))
  const { algorithm, backend } = openMethod(
    'ppo',
    async () => {
      const { parameters: _, config: __, ...rest } = await remote()
      return rest
    },
    { seed: 1 },
  )
  await expect(trainJob({ ...options, algorithm, backend })).rejects.toMatchObject({ code: 'bad-config' })
})
