import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { hashWeights } from '../adapter/lora.ts'
import { readAdapter } from '../adapter/peft.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import { runTraining } from '../training/run.ts'
import { createLocalBackend } from './local-backend.ts'
import type { LocalBackend } from './local-backend.ts'

const scratch = mkdtempSync(join(tmpdir(), 'agoge-base-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const open = (seed: number, lora = false): LocalBackend =>
  createLocalBackend({
    config: tinyConfig,
    seed,
    threads: 1,
    ...(lora && { trainable: { lora: { rank: 2 } } }),
  })
const hashOf = (seed: number): string => hashWeights(initialiseParameters(tinyConfig, seed))

const sequence = {
  tokens: Int32Array.of(1, 2, 3),
  logprobs: new Float32Array(3),
  advantages: new Float32Array(3),
  weights: { rl: new Float32Array(3), ce: Float32Array.of(0, 1, 1), kl: new Float32Array(3) },
}

/** A run of two steps. */
const trainOn = (backend: LocalBackend, out: string, resume: boolean) =>
  runTraining(
    {
      name: 'copying',
      steps: 2,
      collect: () => [sequence],
      async update(sequences, tools) {
        const { loss } = await tools.apply(
          backend,
          { sequences, loss: { name: 'cross_entropy' } },
          { learningRate: 0.1 },
        )
        return { loss }
      },
    },
    { models: { backend }, settings: { rate: 1 }, out, resume },
  )

test('the hash is of the weights, whatever is trained on them', async () => {
  expect(hashOf(1)).toMatch(/^[0-9a-f]{64}$/)
  expect(hashOf(2)).not.toBe(hashOf(1))
  const backend = open(1, true)
  await backend.forwardBackward([sequence], { name: 'cross_entropy' })
  await backend.optimStep({ learningRate: 0.1 })
  expect(hashWeights(backend.parameters)).not.toBe(hashOf(1))
  expect(hashWeights(backend.parameters, backend.adapter)).toBe(hashOf(1))
  await backend.dispose()
})

test('an adapter is loaded onto its own base only', async () => {
  const folder = join(scratch, 'adapter')
  const backend = open(1, true)
  await backend.optimStep({ learningRate: 0.1 })
  await backend.exportAdapter(folder, { base: 'tiny' })
  await backend.dispose()
  expect(JSON.parse(readFileSync(join(folder, 'base.json'), 'utf8'))).toEqual({
    schema: 1,
    sha256: hashOf(1),
  })
  const onto = (seed: number) => readAdapter(folder, initialiseParameters(tinyConfig, seed))
  expect((await onto(1)).settings.rank).toBe(2)
  await expect(onto(2)).rejects.toMatchObject({
    code: 'other-base',
    given: `weights ${hashOf(2).slice(0, 16)}`,
    expected: `weights ${hashOf(1).slice(0, 16)} (tiny)`,
  })
  // Adapters of PEFT record no base.
  rmSync(join(folder, 'base.json'))
  rmSync(join(folder, 'checksums.sha256'))
  expect((await onto(2)).settings.rank).toBe(2)
})

test('a run records its base, and is resumed on it only', async () => {
  const out = join(scratch, 'run')
  const first = open(1)
  await trainOn(first, out, false)
  expect(JSON.parse(readFileSync(join(out, 'config.json'), 'utf8'))).toMatchObject({ base: hashOf(1) })
  await trainOn(open(1), out, true)
  // The same object with changed weights.
  await trainOn(first, out, true)
  await expect(trainOn(open(2), out, true)).rejects.toMatchObject({
    code: 'other-base',
    given: `weights ${hashOf(2).slice(0, 16)}`,
    expected: `weights ${hashOf(1).slice(0, 16)}`,
  })
})
