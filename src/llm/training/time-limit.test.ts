import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { summariseEpisodes } from '../evaluation/episode-statistics.ts'
import { trainJob } from './loop.ts'
import { initialState } from './state.ts'
import { boxJob } from './testing/box-job.ts'
import { limitSteps } from './time-limit.ts'
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

test('with no time left RL makes no step, and says so', async () => {
  const { summary, notes } = await trained(job('none', () => 0))
  expect(summary.reinforcement).toBeUndefined()
  expect(notes).toEqual(['RL makes 0 of 30 steps, so that the run is over in time'])
  const steps = readFileSync(join(root, 'none', 'metrics.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
  expect(steps.filter((line) => line.includes('"phase":"rl"'))).toHaveLength(0)
})

test('with time enough the run is that of the plan', async () => {
  const { summary, notes } = await trained(job('much', () => 1e6))
  expect(summary.reinforcement?.steps).toBe(30)
  expect(notes).toEqual([])
  await trained(job('unlimited'))
  expect(weightsOf('much').equals(weightsOf('unlimited'))).toBe(true)
})

/** Plenty of time before the first step, and none from then on. */
function suddenlyNone(): () => number {
  let asked = 0
  return () => (asked++ === 0 ? 1e6 : 0)
}

test('where no further step fits, the second is the last', async () => {
  const { summary, notes } = await trained(job('two', suddenlyNone()))
  expect(summary.reinforcement?.steps).toBe(2)
  expect(notes).toEqual(['RL makes 2 of 30 steps, so that the run is over in time'])
})

test('a resumed run makes as many steps as were fixed before, whatever time it has', async () => {
  const stop = new AbortController()
  // As soon as the number is fixed: at the beginning of the second step.
  const early = trainJob(job('resumed', suddenlyNone()), {
    signal: stop.signal,
    onEvent: (event) => event.type === 'note' && stop.abort(new Error('stopped')),
  })
  await expect(early).rejects.toThrow('stopped')
  const { summary } = await trained({ ...job('resumed', () => 1e6), resume: true })
  expect(summary.reinforcement?.steps).toBe(2)
  expect(weightsOf('resumed').equals(weightsOf('two'))).toBe(true)
})

test('a run that is resumed with no time left keeps the steps that it made', async () => {
  const stop = new AbortController()
  const early = trainJob(job('late'), {
    signal: stop.signal,
    onEvent: (event) =>
      event.type === 'step' && event.phase === 'rl' && event.step === 3 && stop.abort(new Error('stopped')),
  })
  await expect(early).rejects.toThrow('stopped')
  const { summary, notes } = await trained({ ...job('late', () => 0), resume: true })
  expect(summary.reinforcement?.steps).toBe(3)
  expect(notes).toContain('RL makes 3 of 30 steps, so that the run is over in time')
})

test('a validation between steps costs its time and makes no step slower', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now * 1000)
  const { plan, ...rest } = job('clock')
  const reinforcement = { ...plan.reinforcement, validateEvery: 10 }
  const options = { ...rest, plan: { ...plan, reinforcement, tasks: { ...plan.tasks, test: 4 } } }
  const stage = { name: 'warm-start' as const, ...summariseEpisodes([]), seconds: 1, evaluationSeconds: 20 }

  /** Steps of so many seconds, with validations of 10 s after 10 and after 20 of them, in 120 s. */
  async function run(stepSeconds: number): Promise<number> {
    now = 0
    const state = { ...initialState(), stages: [stage] }
    const limit = limitSteps({
      options: { ...options, secondsLeft: () => 120 - now },
      state,
      emit: () => {},
      phaseSeconds: () => now,
    })
    let step = 0
    for (; step < limit.steps(); step++) {
      if (step > 0 && step % 10 === 0)
        await limit.validating(() => {
          now += 10
          return Promise.resolve()
        })
      limit.onStep(step)
      now += stepSeconds
    }
    return step
  }

  try {
    expect(await run(1)).toBe(30)
    // The last validation takes 10 s, the evaluation on 4 + 2 tasks 30 s.
    const steps = await run(3)
    expect(steps).toBeLessThan(30)
    expect(steps).toBeGreaterThan(12)
    expect(now + 40).toBeLessThanOrEqual(120)
  } finally {
    clock.mockRestore()
  }
})
