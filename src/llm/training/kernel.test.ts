import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import type { AgogeError } from '../../error.ts'
import { tinyBackend } from './preference/testing/liked-tokens.ts'
import type { TrainingEvent } from '../../runs/run-folder.ts'
import type { TrainingPart } from './kernel.ts'
import { runTraining, settingsOf } from './run.ts'
import type { RunOptions, RunSummary, ValidationOptions } from './run.ts'
import { validationOf } from './run.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-kernel-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const zeros = () => new Float32Array(3)
const row = (last: number, weight = 1): TrainingSequence => ({
  tokens: Int32Array.of(0, 2, last),
  logprobs: zeros(),
  advantages: zeros(),
  weights: { rl: zeros(), ce: Float32Array.of(0, 0, weight), kl: zeros() },
})

/** Six steps of SFT. The weight of step `spoilt` is NaN. */
async function trainSmall({ spoilt, ...options }: RunOptions & ValidationOptions & { spoilt?: number } = {}) {
  const backend = tinyBackend(1)
  const part: TrainingPart<{ step: number; rows: TrainingSequence[] }> = {
    name: 'imitate',
    steps: 6,
    collect: (step) => ({ step, rows: [row(4 + step, step === spoilt ? Number.NaN : 1)] }),
    async update({ step, rows }, tools) {
      const update = { sequences: rows, loss: { name: 'cross_entropy' } as const }
      const { loss } = await tools.apply(backend, update, tools.schedule({ learningRate: 0.01 }), () => [
        `row ${step}`,
      ])
      return { loss, unknown: undefined }
    },
    validation: validationOf(options),
  }
  try {
    return await runTraining(part, { ...options, models: { model: backend }, settings: { rate: 0.01 } })
  } finally {
    await backend.dispose()
  }
}

test('a run folder has settings, metrics, the final weights, a summary and a report', async () => {
  const out = join(root, 'whole')
  const { records, best } = await trainSmall({ out, command: 'imitate --now' })
  expect(best).toBeNull()
  expect(records.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6])
  expect(Object.keys(records[0].metrics)).toEqual(['loss'])
  expect(JSON.parse(readFileSync(join(out, 'config.json'), 'utf8'))).toMatchObject({
    trainer: 'imitate',
    rate: 0.01,
  })
  expect(readFileSync(join(out, 'metrics.jsonl'), 'utf8').trimEnd().split('\n').length).toBe(6)
  expect(readdirSync(join(out, 'checkpoints'))).toEqual(['final'])
  expect(readFileSync(join(out, 'report.html'), 'utf8')).toContain('imitate --now')
  const { kept } = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')) as RunSummary
  expect(kept).toEqual({ rule: 'the last step', step: 6 })
  await expect(trainSmall({ out })).rejects.toMatchObject({ code: 'run-exists' })
  await expect(trainSmall({ out: join(root, 'none'), resume: true })).rejects.toMatchObject({
    code: 'no-run',
  })
  await expect(trainSmall({ resume: true })).rejects.toMatchObject({ code: 'no-run' })
})

test('of equal scores the latest is kept, and the summary names the rule', async () => {
  const out = join(root, 'best')
  const scores = [0, 3, 3, 1]
  let at = 0
  const { best } = await trainSmall({
    out,
    validation: { score: () => scores[at++], every: 2, measure: 'skill' },
  })
  expect(best).toEqual({ step: 4, score: 3 })
  const { kept } = JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')) as RunSummary
  expect(kept).toEqual({ rule: 'highest skill in validation, the latest of equals', step: 4, score: 3 })
})

test('a loss that is no number stops the run, named with its step, and the weights before it are kept', async () => {
  const out = join(root, 'diverged')
  const stopped = (await trainSmall({ out, spoilt: 3 }).catch((error: unknown) => error)) as AgogeError
  expect(stopped.code).toBe('non-finite-loss')
  expect(stopped.message).toMatch(/^Training stopped in step 4 of imitate\./)
  expect(stopped.given).toEqual({ phase: 'imitate', step: 4, episodes: ['row 3'] })
  expect(stopped.hint).toContain(join(out, 'checkpoints', 'imitate-3'))
  expect(existsSync(join(out, 'checkpoints', 'imitate-3', 'model.safetensors'))).toBe(true)
  // In memory there is no folder to name.
  await expect(trainSmall({ spoilt: 0 })).rejects.toMatchObject({
    code: 'non-finite-loss',
    given: { step: 1 },
  })
})

test('an abort saves the present state and rejects with its reason', async () => {
  const out = join(root, 'aborted')
  const stop = new AbortController()
  const run = trainSmall({
    out,
    signal: stop.signal,
    onEvent: (event) => event.type === 'step' && event.step === 3 && stop.abort(new Error('enough')),
  })
  await expect(run).rejects.toThrow('enough')
  expect(readdirSync(join(out, 'checkpoints'))).toEqual(['imitate-0', 'imitate-3'])
  const { records } = await trainSmall({ out, resume: true })
  expect(records.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6])
})

test('killed before its first checkpoint is due, a run begins where it was, with the best weights that it found', async () => {
  const [out, killed] = [join(root, 'early'), join(root, 'early-killed')]
  const validation = { score: () => ++at, every: 1 }
  let at = 0
  const onEvent = (event: TrainingEvent): void => {
    if (event.type === 'step' && event.phase === 'imitate' && event.step === 4)
      cpSync(out, killed, { recursive: true })
  }
  await trainSmall({ out, checkpointEvery: 100, validation, onEvent })
  at = 0
  const { best, records } = await trainSmall({ out: killed, checkpointEvery: 100, validation, resume: true })
  expect(best).toEqual({ step: 6, score: 7 })
  expect(records.length).toBe(6 + 7)
})

test('settings are numbers, texts and plain objects of them', () => {
  const options = {
    rate: 1,
    name: 'a',
    nested: { deep: true },
    list: [1],
    model: { step: () => 1 },
    out: 'x',
    on: () => 1,
  }
  expect(settingsOf(options)).toEqual({ rate: 1, name: 'a', nested: { deep: true } })
})
