import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalBackend } from '../../language/index.ts'
import { createTinkerBackend } from '../../language/tinker/index.ts'
import { trainJob } from '../../training/index.ts'
import type { TrainableBackend, TrainJobOptions } from '../../training/index.ts'
import { boxJob } from '../../training/testing/box-job.ts'
import { createTinkerServer } from './server.ts'
import type { TinkerServer } from './server.ts'

let root: string
let model: string
let server: TinkerServer
let whole: string

const changes = {
  demonstrations: { get: 12, put: 12 },
  tasks: { validation: 4, test: 4, unseenWording: 0 },
}

const jobAt = (folder: string, backend?: TrainJobOptions['backend']): TrainJobOptions => {
  const job = boxJob(join(root, folder), changes)
  const { warmStart, reinforcement } = job.plan
  const plan = {
    ...job.plan,
    warmStart: { ...warmStart, epochs: 4, validateEvery: 4, patience: 1 },
    reinforcement: { ...reinforcement, steps: 4 },
  }
  return { ...job, plan, ...(backend === undefined ? {} : { backend }) }
}

const remote = (): Promise<TrainableBackend> => createTinkerBackend({ baseUrl: server.url })

/** Lines of metrics without what depends on the clock. */
const metrics = (folder: string): string =>
  readFileSync(join(root, folder, 'metrics.jsonl'), 'utf8').replaceAll(
    /"(\w*[sS]econds?|tokensPerSecond)":[\d.e-]+,?/g,
    '',
  )

/** The weights that a run ended with, wherever they are. */
function finalWeights(folder: string): Buffer {
  const file = join(root, folder, 'checkpoints', 'final')
  if (folder === 'local') return readFileSync(join(file, 'model.safetensors'))
  const { path } = JSON.parse(readFileSync(join(file, 'tinker.json'), 'utf8')) as { path: string }
  return readFileSync(join(root, 'store', path.slice('tinker://'.length), 'model.safetensors'))
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-tinker-run-'))
  model = join(root, 'base')
  const base = (await jobAt('local').backend()) as LocalBackend
  await base.export(model)
  await base.dispose()
  server = await createTinkerServer({ models: { box: model }, store: join(root, 'store'), threads: 1 })
  await trainJob(jobAt('local'))
  whole = metrics('local')
})

afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true, force: true })
})

test('a run against the server has the losses, gradients, successes and weights of one in this process', async () => {
  await trainJob(jobAt('remote', remote))
  expect(metrics('remote')).toBe(whole)
  expect(whole).toContain('"phase":"rl"')
  expect(whole).toContain('"gradientNorm"')
  expect(finalWeights('remote').equals(finalWeights('local'))).toBe(true)
})

test('interrupted, the server started anew, and resumed: the same again', async () => {
  const stop = new AbortController()
  let steps = 0
  const interrupted = trainJob(jobAt('resumed', remote), {
    signal: stop.signal,
    onEvent(event) {
      if (event.type === 'step' && event.phase === 'rl' && ++steps === 2) stop.abort(new Error('enough'))
    },
  })
  await expect(interrupted).rejects.toThrow('enough')
  await server.close()
  server = await createTinkerServer({ models: { box: model }, store: join(root, 'store'), threads: 1 })
  await trainJob({ ...jobAt('resumed', remote), resume: true })
  expect(metrics('resumed')).toBe(whole)
  expect(finalWeights('resumed').equals(finalWeights('local'))).toBe(true)
  // No key, no address with a secret: only where the weights are.
  expect(readFileSync(join(root, 'resumed', 'config.json'), 'utf8')).not.toMatch(/key/i)
})
