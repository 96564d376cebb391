import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { grpo } from '../algorithm/policy-optimisation/presets.ts'
import type { BatchSettings } from '../algorithm/types.ts'
import { AgogeError } from '../../error.ts'
import { trainJob } from './loop.ts'
import type { MetricsRecord, TrainingEvent } from '../../runs/run-folder.ts'
import type { TrainableBackend, TrainJobOptions } from './types.ts'
import { boxJob } from './testing/box-job.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-overlap-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function job(name: string, batch: BatchSettings, changes: Partial<TrainJobOptions> = {}): TrainJobOptions {
  const plain = boxJob(join(root, name), { demonstrations: { get: 12, put: 12 } })
  const { warmStart, reinforcement } = plain.plan
  return {
    ...plain,
    plan: {
      ...plain.plan,
      warmStart: { ...warmStart, epochs: 1 },
      reinforcement: { ...reinforcement, steps: 5, minibatches: 2, validateEvery: 3, ...batch },
      tasks: { validation: 4, test: 4, unseenParaphrases: 0 },
    },
    // Every batch has reward variance, even for an untrained model.
    reward: ({ usage }) => (usage.sampledTokens % 7) / 7,
    ...changes,
  }
}
const overlapped = { maxStaleness: 1, overlap: true, resampling: 1 }

const weights = (name: string): Buffer =>
  readFileSync(join(root, name, 'checkpoints', 'final', 'model.safetensors'))
const lines = (name: string): string =>
  readFileSync(join(root, name, 'metrics.jsonl'), 'utf8').replaceAll(
    /"(\w*[sS]econds?|tokensPerSecond)":[\d.e-]+,?/g,
    '',
  )
const rows = (name: string): Record<string, number>[] =>
  readFileSync(join(root, name, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as MetricsRecord)
    .filter(({ phase }) => phase === 'rl')
    .map(({ metrics }) => metrics)

interface Span {
  what: 'sample' | 'train'
  from: number
  to: number
}

/** The job's backend, with a record of when frozen samplers and the trainer ran. */
function watched(plain: TrainJobOptions['backend'], spans: Span[]): TrainJobOptions['backend'] {
  const timed = async <T>(what: Span['what'], work: Promise<T>): Promise<T> => {
    const span: Span = { what, from: performance.now(), to: Infinity }
    spans.push(span)
    return work.finally(() => (span.to = performance.now()))
  }
  return async () => {
    const backend = await plain()
    const freeze: TrainableBackend['freeze'] = async () => {
      const frozen = await backend.freeze!()
      return { ...frozen, sample: (...given) => timed('sample', frozen.sample(...given)) }
    }
    return Object.create(backend, {
      freeze: { value: freeze },
      forwardBackward: {
        value: (...given: Parameters<TrainableBackend['forwardBackward']>) =>
          timed('train', backend.forwardBackward(...given)),
      },
    }) as TrainableBackend
  }
}

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('sampling overlaps training within the bound, bit-identical to sequential execution, also after a kill', async () => {
  await trainJob(job('in-turn', { ...overlapped, overlap: false }))
  const spans: Span[] = []
  const watching = job('beside', overlapped)
  await trainJob(
    { ...watching, backend: watched(watching.backend, spans) },
    {
      onEvent(event) {
        // The checkpoint is of step 2 and contains nothing of step 3, as after a kill.
        if (event.type === 'step' && event.phase === 'rl' && event.step === 3)
          cpSync(join(root, 'beside'), join(root, 'killed'), { recursive: true })
      },
    },
  )
  expect(lines('beside')).toBe(lines('in-turn'))
  expect(weights('beside').equals(weights('in-turn'))).toBe(true)
  const found = rows('beside')
  expect(found.map(({ staleness }) => staleness)).toEqual([0, 1, 1, 1, 1])
  // Two updates a step.
  expect(Math.max(...found.map(({ weightLag }) => weightLag))).toBe(2)
  const mismatches = found.flatMap((row) => ('mismatch' in row ? [row['mismatch']] : []))
  expect(mismatches[0]).toBeLessThan(1e-3)
  expect(Math.max(...mismatches)).toBeGreaterThan(10 * mismatches[0])
  const [sampled, trained] = (['sample', 'train'] as const).map((what) =>
    spans.filter((span) => span.what === what),
  )
  const overlapping = trained.filter(({ from, to }) => sampled.some((one) => one.from < to && from < one.to))
  expect(overlapping.length).toBeGreaterThan(0)

  await trainJob({ ...job('killed', overlapped), resume: true })
  expect(weights('killed').equals(weights('beside'))).toBe(true)
})

test('an abort ends both; resumed, the run comes to its end within the bound, and says where it is another', async () => {
  const stop = new AbortController()
  const spans: Span[] = []
  const deeper = { ...overlapped, maxStaleness: 2 }
  const stopping = job('stopped', deeper)
  const stopped = trainJob(
    { ...stopping, backend: watched(stopping.backend, spans) },
    {
      signal: stop.signal,
      onEvent(event) {
        if (event.type === 'step' && event.phase === 'rl' && event.step === 2) stop.abort(new Error('enough'))
      },
    },
  )
  await expect(stopped).rejects.toThrow('enough')
  expect(spans.every(({ to }) => to < Infinity)).toBe(true)
  const pending = (number: number): string => join(root, 'stopped', 'pending', `${number}.json`)
  // As if the abort had reached the sampler in the middle of the present batch.
  rmSync(pending(2), { force: true })
  const notes: TrainingEvent[] = []
  await trainJob({ ...job('stopped', deeper), resume: true }, { onEvent: (event) => notes.push(event) })
  expect(notes).toContainEqual({
    type: 'note',
    text: expect.stringContaining('batch 3 was being sampled') as unknown,
  })
  const staleness = rows('stopped').map((row) => row['staleness'])
  expect(staleness.length).toBe(5)
  expect(Math.max(...staleness)).toBeLessThanOrEqual(2)
  expect(staleness[2]).toBe(0)
})

test('a failure of sampling or training ends both', async () => {
  const spans: Span[] = []
  const broken = job('broken-sampler', overlapped)
  let opened = 0
  const environment = {
    ...broken.environment,
    open(...given: Parameters<typeof broken.environment.open>) {
      const played = given[0].split === 'train' ? ++opened : 0
      if (played > 70) return Promise.reject(new AgogeError('the power is gone', { code: 'bad-argument' }))
      return broken.environment.open(...given)
    },
  }
  const sampler = trainJob({ ...broken, environment, backend: watched(broken.backend, spans) })
  await expect(sampler).rejects.toThrow('the power is gone')
  expect(spans.every(({ to }) => to < Infinity)).toBe(true)

  spans.length = 0
  let updates = 0
  const wrong = job('broken-trainer', overlapped, {
    algorithm: (groups, context) => {
      if (++updates > 3) throw new AgogeError('no more', { code: 'bad-argument' })
      return grpo({ kl: 0 })(groups, context)
    },
  })
  await expect(trainJob({ ...wrong, backend: watched(wrong.backend, spans) })).rejects.toThrow('no more')
  expect(spans.every(({ to }) => to < Infinity)).toBe(true)
})

test('overlap without staleness, or on a backend that cannot, is an error before any work', async () => {
  const fresh = job('refused', { overlap: true })
  expect(await failure(trainJob(fresh))).toMatchObject({ code: 'bad-plan' })
  const backend = async (): Promise<TrainableBackend> =>
    Object.create(await fresh.backend(), { freeze: { value: undefined } }) as TrainableBackend
  expect(await failure(trainJob(job('refused-too', overlapped, { backend })))).toMatchObject({
    code: 'unsupported-overlap',
  })
})
