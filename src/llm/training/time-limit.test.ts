import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { trainJob } from './loop.ts'
import { boxJob } from './testing/box-job.ts'
import type { TrainJobOptions, TrainingSummary } from './types.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-time-limit-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The job that the other tests train, with 30 steps of RL; a few demonstrations are enough here. */
function job(name: string, secondsLeft?: () => number): TrainJobOptions {
  const { plan, ...options } = boxJob(join(root, name))
  return {
    ...options,
    plan: {
      ...plan,
      demonstrations: { get: 12, put: 12 },
      warmStart: { ...plan.warmStart, epochs: 1 },
      reinforcement: { ...plan.reinforcement, steps: 30, groups: 1, groupSize: 2, validateEvery: 0 },
      tasks: { validation: 2, test: 2, unseenParaphrases: 2 },
    },
    ...(secondsLeft === undefined ? {} : { secondsLeft }),
  }
}

interface Ended {
  summary: TrainingSummary
  notes: string[]
}

async function trained(options: TrainJobOptions, signal?: AbortSignal): Promise<Ended> {
  const notes: string[] = []
  const summary = await trainJob(options, {
    ...(signal === undefined ? {} : { signal }),
    onEvent: (event) => event.type === 'note' && notes.push(event.text),
  })
  return { summary, notes }
}

const weightsOf = (name: string): Buffer =>
  readFileSync(join(root, name, 'checkpoints', 'final', 'model.safetensors'))

test('with no time left RL makes five steps, and says so', async () => {
  const { summary, notes } = await trained(job('none', () => 0))
  expect(summary.reinforcement?.steps).toBe(5)
  expect(notes).toContain('RL makes 5 of 30 steps, so that the run is over in time')
  const steps = readFileSync(join(root, 'none', 'metrics.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
  expect(steps.filter((line) => line.includes('"phase":"rl"'))).toHaveLength(5)
})

test('with time enough the run is that of the plan', async () => {
  const { summary, notes } = await trained(job('much', () => 1e6))
  expect(summary.reinforcement?.steps).toBe(30)
  expect(notes).toEqual([])
  await trained(job('unlimited'))
  expect(weightsOf('much').equals(weightsOf('unlimited'))).toBe(true)
})

test('a resumed run makes as many steps as were fixed before, whatever time it has', async () => {
  const stop = new AbortController()
  // As soon as the number is fixed: at the beginning of the fifth step.
  const early = trainJob(
    job('resumed', () => 0),
    {
      signal: stop.signal,
      onEvent: (event) => event.type === 'note' && stop.abort(new Error('stopped')),
    },
  )
  await expect(early).rejects.toThrow('stopped')
  const { summary } = await trained({ ...job('resumed', () => 1e6), resume: true })
  expect(summary.reinforcement?.steps).toBe(5)
  expect(weightsOf('resumed').equals(weightsOf('none'))).toBe(true)
})
