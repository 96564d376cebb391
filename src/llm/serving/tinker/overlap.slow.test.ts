import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalBackend } from '../../backend/local-backend.ts'
import { loadLocalBackend } from '../../backend/local-backend.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import { trainJob } from '../../training/loop.ts'
import type { TrainJobOptions } from '../../training/types.ts'
import { boxJob } from '../../training/testing/box-job.ts'
import { randomRows } from './testing/rows.ts'
import { openTinyHouse } from './testing/serve-tiny.ts'
import type { TinyHouse } from './testing/serve-tiny.ts'

let house: TinyHouse

beforeAll(async () => {
  house = await openTinyHouse()
})
afterAll(() => house.close())

test('a frozen sampler keeps its weights, and is sampled from beside training', async () => {
  const backend = await createTinkerBackend({ baseUrl: (await house.serve()).url })
  const rows = randomRows(1, 1, { ce: true })
  const train = async (): Promise<void> => {
    await backend.forwardBackward(rows, { name: 'cross_entropy' })
    await backend.optimStep({ learningRate: 0.1 })
  }
  const requests = Array.from({ length: 200 }, (_, key) => ({ prompt: Int32Array.of(4, 5), key }))
  const sampling = { maxTokens: 60, stop: [], temperature: 1, seed: 1 }
  await train()
  const local = await house.local()
  await local.forwardBackward(rows, { name: 'cross_entropy' })
  await local.optimStep({ learningRate: 0.1 })
  const expected = await local.sample(requests, sampling)
  const frozen = await backend.freeze()
  // The threads take a moment to start.
  await frozen.sample(requests.slice(0, 1), sampling)
  const ends: string[] = []
  const sampled = frozen.sample(requests, sampling).finally(() => ends.push('sampled'))
  await train().finally(() => ends.push('trained'))
  expect((await sampled).map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens))
  expect((await sampled)[0].weightVersion).toBe(1)
  expect(ends).toEqual(['trained', 'sampled'])
  await backend.dispose()
})

test('a run that overlaps over the server is the one in this process that does one thing after the other', async () => {
  const model = join(house.root, 'box')
  const jobAt = (name: string, overlap: boolean, backend: TrainJobOptions['backend']): TrainJobOptions => {
    const job = boxJob(join(house.root, name), {
      demonstrations: { get: 12, put: 12 },
      tasks: { validation: 4, test: 4, unseenParaphrases: 0 },
    })
    const { warmStart, reinforcement } = job.plan
    const plan = {
      ...job.plan,
      warmStart: { ...warmStart, epochs: 1 },
      reinforcement: { ...reinforcement, steps: 4, maxStaleness: 1, overlap },
    }
    return { ...job, plan, backend, reward: ({ usage }) => (usage.sampledTokens % 7) / 7 }
  }
  const base = (await boxJob(house.root).backend()) as LocalBackend
  await base.export(model)
  await base.dispose()
  const { url } = await house.serve({ models: { box: model } })
  await trainJob(jobAt('here', false, () => loadLocalBackend(model, { threads: 1 })))
  await trainJob(jobAt('there', true, () => createTinkerBackend({ baseUrl: url })))
  const [here, there] = ['here', 'there'].map((name) =>
    readFileSync(join(house.root, name, 'metrics.jsonl'), 'utf8').replaceAll(
      /"(\w*[sS]econds?|tokensPerSecond)":[\d.e-]+,?/g,
      '',
    ),
  )
  expect(there).toBe(here)
  expect(here).toMatch(/"staleness":1,"weightLag":1/)
})
