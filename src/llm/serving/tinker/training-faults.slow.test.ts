import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { grpo } from '../../algorithm/policy-optimisation/presets.ts'
import type { Algorithm } from '../../algorithm/types.ts'
import { AgogeError } from '../../../error.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import { trainJob } from '../../training/loop.ts'
import type { MetricsRecord } from '../../../runs/run-folder.ts'
import type { TrainJobOptions } from '../../training/types.ts'
import { boxJob } from '../../training/testing/box-job.ts'
import { createTinkerServer } from './server.ts'
import type { TinkerServer } from './server.ts'
import { startTroubledProxy } from './testing/troubled-proxy.ts'

let root: string
let server: TinkerServer

const jobAt = (
  folder: string,
  url: string,
  warm: Partial<TrainJobOptions['plan']['warmStart']> = {},
): TrainJobOptions => {
  const job = boxJob(join(root, folder), {
    demonstrations: { get: 12, put: 12 },
    tasks: { validation: 4, test: 4, unseenParaphrases: 0 },
    checkpointEvery: 1,
  })
  const { warmStart, reinforcement } = job.plan
  return {
    ...job,
    plan: {
      ...job.plan,
      warmStart: { ...warmStart, epochs: 1, validateEvery: 4, patience: 1, ...warm },
      reinforcement: { ...reinforcement, steps: 4 },
    },
    // Every batch has reward variance, even for an untrained model.
    reward: ({ usage }) => (usage.sampledTokens % 7) / 7,
    backend: () => createTinkerBackend({ baseUrl: url, patienceSeconds: 120 }),
  }
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-tinker-faults-'))
  const model = join(root, 'base')
  const base = (await boxJob(root).backend()) as LocalBackend
  await base.export(model)
  await base.dispose()
  server = await createTinkerServer({ models: { box: model }, store: join(root, 'store'), threads: 1 })
})

afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true, force: true })
})

test('a server that tells neither the norm of the gradient nor the entropy trains a whole job', async () => {
  const other = await startTroubledProxy(
    server.url,
    (path) => (path === 'client/config' ? { status: 404 } : undefined),
    (_path, answer) =>
      answer
        .replaceAll(/"metrics":\{("loss:sum":[^,}]+)[^}]*\}/g, '"metrics":{$1}')
        .replaceAll(/"metrics":\{"grad_norm":[^}]*\}/g, '"metrics":{}'),
  )
  await trainJob(jobAt('silent', other.url, { optimizer: 'adamw', learningRate: 0.01 }))
  const rows = readFileSync(join(root, 'silent', 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as MetricsRecord)
  expect(rows.filter(({ phase, metrics }) => phase === 'rl' && 'loss' in metrics).length).toBeGreaterThan(1)
  for (const { metrics } of rows) {
    expect(metrics).not.toHaveProperty('gradientNorm')
    expect(Object.values(metrics)).not.toContain(null)
  }
  await other.close()
})

test('sampling with non-finite weights fails with the same error as in this process', async () => {
  const backend = await createTinkerBackend({ baseUrl: server.url, patienceSeconds: 120 })
  const tokens = Int32Array.of(4, 5, 6)
  const zeros = new Float32Array(3)
  const weights = { rl: zeros, ce: Float32Array.of(0, 1, 1), kl: zeros }
  const row = { tokens, logprobs: zeros, advantages: zeros, weights }
  // Weight decay makes the weights overflow in two steps.
  for (let step = 0; step < 2; step++) {
    await backend.forwardBackward([row], { name: 'cross_entropy' }).catch(() => {})
    await backend.optimStep({ learningRate: 1e30, weightDecay: 1 }).catch(() => {})
  }
  const drawn = backend.sample([{ prompt: tokens, key: 0 }], {
    maxTokens: 2,
    stop: [],
    temperature: 1,
    seed: 0,
  })
  await expect(drawn).rejects.toMatchObject({ code: 'non-finite-logits' })
  await backend.dispose()
})

test.each(['advantages that are no numbers', 'gradients whose sum is beyond all bounds'])(
  '%s stop training over the server as in this process: the batch is named, the last good weights are kept',
  async (fault) => {
    let seen = 0
    const algorithm: Algorithm = async (groups, context) => {
      const update = await grpo({ kl: 0 })(groups, context)
      if (update.sequences.length === 0 || ++seen !== 2) return update
      if (fault.startsWith('slopes')) {
        const gradients = (rows: readonly Float32Array[]) => rows.map((row) => row.map(() => 1e38))
        return { ...update, loss: (logprobs) => ({ loss: 0, gradients: gradients(logprobs) }) }
      }
      update.sequences[0].advantages.fill(NaN)
      return update
    }
    const folder = fault.replaceAll(' ', '-')
    const stopped: unknown = await trainJob({ ...jobAt(folder, server.url), algorithm }).catch(
      (error: unknown) => error,
    )
    if (!AgogeError.isInstance(stopped)) throw new Error(`expected an AgogeError, not ${String(stopped)}`)
    expect(stopped).toMatchObject({
      code: 'non-finite-loss',
      message: expect.stringMatching(/[Tt]he (loss|gradient) is .*The batch: rl\//),
    })
    const { step, episodes } = stopped.given as { step: number; episodes: string[] }
    expect(episodes.length).toBe(24)
    const { state } = JSON.parse(readFileSync(join(root, folder, 'state.json'), 'utf8')) as {
      state: { step: number }
    }
    expect(state.step).toBe(step - 1)
    expect(stopped.hint).toContain(join(root, folder, 'checkpoints'))
  },
)
