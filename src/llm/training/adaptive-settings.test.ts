import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { optimisePolicy } from '../algorithm/policy-optimisation/optimise-policy.ts'
import type { PolicySettings } from '../algorithm/catalogue.ts'
import { trainJob } from './loop.ts'
import type { MetricsRecord } from '../../runs/run-folder.ts'
import type { TrainingPlan } from './types.ts'
import { boxJob } from './testing/box-job.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-adaptive-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const plan: Partial<TrainingPlan> = {
  demonstrations: { get: 12, put: 12 },
  warmStart: { learningRate: 0.02, optimizer: 'muon', epochs: 2, batch: 12, validateEvery: 99, patience: 1 },
  reinforcement: {
    learningRate: 0.01,
    steps: 4,
    groups: 2,
    groupSize: 3,
    temperature: 1,
    validateEvery: 0,
    demonstrations: 2,
  },
  tasks: { validation: 1, test: 1, unseenParaphrases: 1 },
  checkpointEvery: 1,
}
const settings: PolicySettings = {
  advantage: { name: 'grpo' },
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'token-mean' },
  kl: { place: 'loss', estimator: 'k2', coefficient: 0.1, adapt: { target: 0.001, horizon: 12 } },
  // No policy has this much entropy, so the bonus always applies and grows.
  entropy: { coefficient: 0.001, target: 50, step: 0.002, most: 0.006 },
  imitation: 0.25,
  sftHighEntropy: true,
  entropyShare: 0.2,
}

const stepsOf = (folder: string): Record<string, number>[] =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as MetricsRecord)
    .filter(({ phase }) => phase === 'rl')
    .map(({ metrics }) => metrics)

test('adaptive KL and entropy coefficients follow the measurements, also across an interruption', async () => {
  const whole = join(root, 'whole')
  await trainJob({ ...boxJob(whole, plan), algorithm: optimisePolicy(settings) })
  const steps = stepsOf(whole)
  expect(steps.length).toBe(4)
  expect(steps.map((step) => step['entropyCoefficient'])).toEqual([0.001, 0.003, 0.005, 0.006])
  // The policy is its own reference at first.
  expect(Math.abs(steps[0]['klFromReference'])).toBeLessThan(1e-4)
  expect(steps[0]['klCoefficient']).toBe(0.1)
  for (const [i, { klCoefficient, klFromReference }] of steps.slice(0, -1).entries()) {
    const error = Math.min(0.2, Math.max(-0.2, klFromReference / 0.001 - 1))
    expect(steps[i + 1]['klCoefficient']).toBeCloseTo(klCoefficient * (1 + (error * 6) / 12), 6)
  }
  expect(steps[1]['klCoefficient']).toBeCloseTo(0.09)
  for (const step of steps) {
    expect(step['imitationLoss']).toBeGreaterThan(0)
    expect(step['gradientNorm']).toBeGreaterThan(0)
    expect(step['sampledEntropy']).toBeGreaterThan(0)
    // The selected fifth is above the mean.
    expect(step['leastEntropy']).toBeGreaterThan(step['sampledEntropy'] / 2)
  }

  const path = join(root, 'cut')
  const stop = new AbortController()
  const cut = { ...boxJob(path, plan), algorithm: optimisePolicy(settings) }
  await expect(
    trainJob(cut, {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'step' && event.phase === 'rl' && event.step === 2) stop.abort(new Error('enough'))
      },
    }),
  ).rejects.toThrow('enough')
  await trainJob({ ...cut, resume: true, algorithm: optimisePolicy(settings) })
  const measured = ['klCoefficient', 'entropyCoefficient', 'klFromReference', 'leastEntropy', 'loss']
  const measuredIn = (folder: string) => stepsOf(folder).map((step) => measured.map((name) => step[name]))
  expect(measuredIn(path)).toEqual(measuredIn(whole))
})
