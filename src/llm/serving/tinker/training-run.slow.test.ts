import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadLocalBackend } from '../../backend/local-backend.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import { trainJob } from '../../training/loop.ts'
import type { TrainableBackend, TrainJobOptions } from '../../training/types.ts'
import { boxJob } from '../../training/testing/box-job.ts'
import { createTinkerServer } from './server.ts'
import type { TinkerServer } from './server.ts'

let root: string
let model: string
let server: TinkerServer

const store = (): string => join(root, 'store')
const serve = (): Promise<TinkerServer> =>
  createTinkerServer({ models: { box: model }, store: store(), threads: 1 })

const changes = {
  demonstrations: { get: 12, put: 12 },
  tasks: { validation: 4, test: 4, unseenParaphrases: 0 },
}

const jobAt = (folder: string, backend: TrainJobOptions['backend']): TrainJobOptions => {
  const job = boxJob(join(root, folder), changes)
  const { warmStart, reinforcement } = job.plan
  const plan = {
    ...job.plan,
    warmStart: { ...warmStart, epochs: 2, validateEvery: 4, patience: 1 },
    reinforcement: { ...reinforcement, steps: 4, minibatches: 2 },
  }
  // Every batch has reward variance, even for an untrained model.
  return { ...job, plan, backend, reward: ({ usage }) => (usage.sampledTokens % 7) / 7 }
}

const local = (rank: number) => (): Promise<TrainableBackend> =>
  loadLocalBackend(model, { threads: 1, ...(rank === 0 ? {} : { trainable: { lora: { rank } } }) })
const remote = (rank: number) => (): Promise<TrainableBackend> =>
  createTinkerBackend({ baseUrl: server.url, loraRank: rank })

/** Lines of metrics without durations. */
const metrics = (folder: string): string =>
  readFileSync(join(root, folder, 'metrics.jsonl'), 'utf8').replaceAll(
    /"(\w*[sS]econds?|tokensPerSecond)":[\d.e-]+,?/g,
    '',
  )

/** The final weights of a run, and its adapter. */
function finalWeights(folder: string): Buffer[] {
  const file = join(root, folder, 'checkpoints', 'final')
  const note = join(file, 'tinker.json')
  const path = existsSync(note)
    ? (JSON.parse(readFileSync(note, 'utf8')) as { path: string }).path
    : undefined
  const where = path === undefined ? file : join(store(), path.slice('tinker://'.length))
  return ['model.safetensors', join('adapter', 'adapter_model.safetensors')]
    .map((name) => join(where, name))
    .filter((name) => existsSync(name))
    .map((name) => readFileSync(name))
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-tinker-run-'))
  model = join(root, 'base')
  const base = (await boxJob(root).backend()) as LocalBackend
  await base.export(model)
  await base.dispose()
  server = await serve()
})

afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true, force: true })
})

test.each([
  ['all weights', 0],
  ['an adapter of rank 4', 4],
])(
  '%s: a run against the server is one in this process, also when it is interrupted and the server started anew',
  async (_what, rank) => {
    const [here, there, resumed] = ['local', 'remote', 'resumed'].map((name) => `${name}-${rank}`)
    await trainJob(jobAt(here, local(rank)))
    const whole = metrics(here)
    const learned = whole
      .split('\n')
      .filter((line) => line.includes('"phase":"rl"') && line.includes('"loss"'))
    expect(learned.length).toBeGreaterThan(2)

    await trainJob(jobAt(there, remote(rank)))
    expect(metrics(there)).toBe(whole)
    expect(finalWeights(here).length).toBe(rank === 0 ? 1 : 2)
    expect(finalWeights(there)).toEqual(finalWeights(here))

    const stop = new AbortController()
    let steps = 0
    const interrupted = trainJob(jobAt(resumed, remote(rank)), {
      signal: stop.signal,
      onEvent(event) {
        if (event.type === 'step' && event.phase === 'rl' && ++steps === 2) stop.abort(new Error('enough'))
      },
    })
    await expect(interrupted).rejects.toThrow('enough')
    await server.close()
    server = await serve()
    await trainJob({ ...jobAt(resumed, remote(rank)), resume: true })
    expect(metrics(resumed)).toBe(whole)
    expect(finalWeights(resumed)).toEqual(finalWeights(here))
    // Contains no key and no address with a secret, only the path of the weights.
    expect(readFileSync(join(root, resumed, 'config.json'), 'utf8')).not.toMatch(/key/i)
  },
)
