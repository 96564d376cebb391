import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findPolicyPreset, grpo } from '../algorithm/policy-optimisation/presets.ts'
import { optimisePolicy } from '../algorithm/policy-optimisation/optimise-policy.ts'
import type { Algorithm, BatchSettings, EpisodeGroup } from '../algorithm/types.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { trainJob } from './loop.ts'
import type { MetricsRecord } from '../../runs/run-folder.ts'
import type { TrainJobOptions } from './types.ts'
import { boxJob } from './testing/box-job.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-batches-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function job(name: string, batch: BatchSettings, changes: Partial<TrainJobOptions> = {}): TrainJobOptions {
  const plain = boxJob(join(root, name))
  return {
    ...plain,
    plan: {
      ...plain.plan,
      warmStart: { ...plain.plan.warmStart, epochs: 5 },
      reinforcement: { ...plain.plan.reinforcement, validateEvery: 0, ...batch },
      tasks: { validation: 4, test: 4, unseenParaphrases: 0 },
    },
    ...changes,
  }
}

const weights = (name: string): Buffer =>
  readFileSync(join(root, name, 'checkpoints', 'final', 'model.safetensors'))
const rows = (name: string): Record<string, number>[] =>
  readFileSync(join(root, name, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as MetricsRecord)
    .filter(({ phase }) => phase === 'rl')
    .map(({ metrics }) => metrics)

test('batches sampled ahead are as stale as allowed, say so, and survive a kill bit for bit', async () => {
  const stale = { maxStaleness: 2 }
  await trainJob(job('stale', stale), {
    onEvent(event) {
      // The checkpoint is of step 2 and contains nothing of step 3, as after a kill.
      if (event.type === 'step' && event.phase === 'rl' && event.step === 3)
        cpSync(join(root, 'stale'), join(root, 'killed'), { recursive: true })
    },
  })
  expect(rows('stale').map(({ staleness }) => staleness)).toEqual([0, 1, 2, 2, 2, 2])
  const mismatch = rows('stale').flatMap((row) => ('mismatch' in row ? [row['mismatch']] : []))
  expect(mismatch[0]).toBeLessThan(1e-3)
  expect(Math.max(...mismatch)).toBeGreaterThan(10 * mismatch[0])
  expect(readdirSync(join(root, 'stale', 'pending'))).toEqual([])
  expect(readdirSync(join(root, 'killed', 'pending')).length).toBeGreaterThan(2)
  await trainJob({ ...job('killed', stale), resume: true })
  expect(weights('killed').equals(weights('stale'))).toBe(true)
  await trainJob(job('fresh', {}))
  expect(weights('fresh').equals(weights('stale'))).toBe(false)
  expect(rows('fresh').every((row) => !('mismatch' in row) || row['mismatch'] < 1e-3)).toBe(true)
})

test('sampled at temperature 0.8, trainer and sampler agree before an update', async () => {
  const { plan, ...rest } = job('cool', {})
  const reinforcement = { ...plan.reinforcement, steps: 1, temperature: 0.8 }
  await trainJob({ ...rest, plan: { ...plan, reinforcement } })
  const learnt = rows('cool').filter((row) => 'mismatch' in row)
  expect(learnt.length).toBeGreaterThan(0)
  for (const { mismatch, mismatchKl, mismatchMaxRatio } of learnt) {
    expect(mismatch).toBeLessThan(1e-5)
    expect(mismatchKl).toBeLessThan(1e-6)
    expect(mismatchMaxRatio).toBeLessThan(1 + 1e-4)
  }
})

test('sampled with int8 weights and corrected, the mismatch is still in the metrics', async () => {
  const corrections = [{ level: 'token', mode: 'truncate', high: 2 }] as const
  // A KL penalty changes every row, with or without reward variance in its group.
  const kl = { place: 'loss', estimator: 'k2', coefficient: 0.01 } as const
  const algorithm = optimisePolicy({ ...findPolicyPreset('grpo-damped').settings, kl, corrections })
  const { plan, backend, ...rest } = job('int8', {}, { algorithm })
  const openInt8 = async () => {
    const { config, tokenizer } = (await backend()) as LocalBackend
    const shared = { config, seed: 1, threads: 1, samplingWeights: 'int8' } as const
    return createLocalBackend({ ...shared, ...(tokenizer && { tokenizer }) })
  }
  const reinforcement = { ...plan.reinforcement, steps: 1 }
  await trainJob({ ...rest, backend: openInt8, plan: { ...plan, reinforcement } })
  const learnt = rows('int8').filter((row) => 'mismatch' in row)
  expect(learnt.length).toBeGreaterThan(0)
  for (const { mismatch, mismatchKl, mismatchMaxRatio } of learnt) {
    expect(mismatch).toBeGreaterThan(1e-4)
    expect(mismatch).toBeLessThan(0.1)
    expect(mismatchKl).toBeGreaterThan(1e-7)
    expect(mismatchMaxRatio).toBeGreaterThan(1 + 1e-3)
  }
})

test('zero-variance groups are replaced, and only groups with variance are trained on', async () => {
  const batches: (readonly EpisodeGroup[])[] = []
  const algorithm: Algorithm = (groups, context) => {
    batches.push(groups)
    return grpo({ kl: 0 })(groups, context)
  }
  await trainJob(job('resampled', { resampling: 2 }, { algorithm }))
  expect(batches.flat().every(({ rewards }) => new Set(rewards).size > 1)).toBe(true)
  const replaced = rows('resampled').map(({ groupsReplaced }) => groupsReplaced)
  expect(Math.max(...replaced)).toBeGreaterThan(0)
  expect(rows('resampled').every((row) => row['groupsWithoutSignal'] === 0 || !('loss' in row))).toBe(true)
})

test('minibatches, epochs, a greedy baseline, a reference and demonstrations reach the algorithm', async () => {
  const { settings, batch } = findPolicyPreset('remax')
  const algorithm = optimisePolicy({
    ...settings,
    kl: { place: 'loss', estimator: 'k2', coefficient: 0.01 },
    imitation: 0.1,
    corrections: [{ level: 'token', mode: 'truncate', high: 2 }],
  })
  const wanted = { ...batch, minibatches: 2, epochs: 2, demonstrations: 3 }
  const batches: (readonly EpisodeGroup[])[] = []
  const watched: Algorithm = (groups, context) => {
    batches.push(context.batch ?? [])
    expect(groups.length).toBe(2)
    expect(groups.every((group) => context.batch?.includes(group))).toBe(true)
    // 3 turns of 32 tokens.
    expect(context.tokenLimit).toBe(96)
    return algorithm(groups, context)
  }
  await trainJob(job('all', wanted, { algorithm: watched }))
  expect(batches.length).toBe(12)
  expect(batches.every((each, i) => each.length === 4 && each === batches[i - (i % 2)])).toBe(true)
  const found = rows('all')
  expect(found.length).toBe(6)
  for (const row of found) {
    expect(row['imitationLoss']).toBeGreaterThan(0)
    expect(row['meanImportance']).toBeCloseTo(1, 3)
    expect(row['responseTokens']).toBeGreaterThan(1)
  }
  // The second pass over a batch is off-policy, and the policy leaves its reference.
  expect(found.some((row) => Math.abs(row['meanRatio'] - 1) > 1e-3)).toBe(true)
  expect(found.at(-1)!['divergenceLoss']).toBeGreaterThan(found[0]['divergenceLoss'])
})
