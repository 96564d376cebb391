import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { LossSettings, OptimStep } from '../model-backend.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import { crossEntropy, tinyConfig } from '../testing/tiny-model.ts'
import { adamParams } from '../backend/tinker/remote-model.ts'

const wrong: [string, Partial<OptimStep> | { optimizer: string }][] = [
  ['learningRate', { learningRate: NaN }],
  ['learningRate', { learningRate: -1e-3 }],
  ['learningRate', { learningRate: Infinity }],
  ['beta1', { beta1: 1 }],
  ['beta2', { beta2: NaN }],
  ['epsilon', { epsilon: -1 }],
  ['weightDecay', { weightDecay: NaN }],
  ['clip', { clip: 0 }],
  ['clip', { clip: NaN }],
  ['optimizer', { optimizer: 'sgd' }],
]

test('a step that would destroy the weights is refused, also before it is sent to a server', async () => {
  const backend = createLocalBackend({ config: tinyConfig, threads: 1, seed: 1 })
  const before = backend.parameters.data.slice()
  for (const [setting, given] of wrong) {
    const step = { learningRate: 1e-3, ...given } as OptimStep
    await backend.forwardBackward([crossEntropy([3, 9, 4])], { name: 'cross_entropy' })
    const refused = { code: 'bad-optim-step', message: expect.stringContaining(setting) }
    await expect(backend.optimStep(step), JSON.stringify(given)).rejects.toMatchObject(refused)
    expect(() => adamParams(step, true, 'host')).toThrow(expect.objectContaining(refused))
  }
  expect(backend.parameters.data).toEqual(before)
  expect(backend.weightVersion).toBe(0)
  // The gradients of the steps that were refused are forgotten.
  expect(await backend.optimStep({ learningRate: 0, clip: Infinity })).toEqual({ gradientNorm: 0 })
  await backend.dispose()
})

test('unknown losses and non-numeric settings are refused', async () => {
  const backend = createLocalBackend({ config: tinyConfig, threads: 1, seed: 1 })
  const row = crossEntropy([3, 9, 4])
  for (const [what, loss] of [
    ['its name', { name: 'grpo' }],
    ['clipLow', { name: 'ppo', clipLow: NaN }],
    ['clipHigh', { name: 'ppo', clipHigh: -0.1 }],
    ['entropyCoefficient', { name: 'ppo', entropyCoefficient: NaN }],
  ] as [string, LossSettings][])
    await expect(backend.forwardBackward([row], loss)).rejects.toMatchObject({
      code: 'bad-loss-settings',
      message: expect.stringContaining(what),
    })
  await backend.dispose()
})

test('non-finite weights draw no tokens', async () => {
  const backend = createLocalBackend({ config: tinyConfig, threads: 1, seed: 1 })
  backend.parameters.data[7 * tinyConfig.hidden_size] = NaN
  backend.weightsChanged()
  const prompt = Int32Array.of(5, 7, 9)
  for (const rows of [1, 5])
    for (const temperature of [0, 1]) {
      const requests = Array.from({ length: rows }, (_, key) => ({ prompt, key }))
      const drawn = backend.sample(requests, { maxTokens: 4, stop: [], temperature, seed: 0 })
      await expect(drawn).rejects.toMatchObject({ code: 'non-finite-logits' })
    }
  await backend.dispose()
})

test('non-finite weights and weights too large for their type do not replace saved ones', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'agoge-finite-')), 'model')
  const backend = createLocalBackend({ config: tinyConfig, threads: 1, seed: 1 })
  await backend.save(folder)
  const good = backend.parameters.data[5]
  backend.parameters.data[5] = 70_000
  await expect(backend.export(folder, 'F16')).rejects.toMatchObject({
    code: 'weights-not-finite',
    message: expect.stringContaining('model.embed_tokens.weight'),
    hint: expect.stringContaining('F32'),
  })
  backend.parameters.data[5] = NaN
  await expect(backend.save(folder)).rejects.toMatchObject({ code: 'weights-not-finite' })
  await expect(backend.export(folder, 'F64' as 'F32')).rejects.toMatchObject({ code: 'unsupported-type' })
  await backend.dispose()
  const { parameters } = await readCheckpoint(folder)
  expect(parameters.data[5]).toBe(good)
  rmSync(dirname(folder), { recursive: true })
})

test('tokenBudget and threads are checked', () => {
  for (const threads of [NaN, 0, 1.5])
    expect(() => createLocalBackend({ config: tinyConfig, threads })).toThrow('threads is not')
  for (const tokenBudget of [NaN, 0, -5])
    expect(() => createLocalBackend({ config: tinyConfig, tokenBudget })).toThrow('tokenBudget')
})
