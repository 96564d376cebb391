import { expect, test } from 'vitest'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import { callForecast, plannedCalls } from './train-text.ts'
import { quickCounts } from './open-environment.ts'
import { adjustPlan } from './train.ts'

const plan: TrainingPlan = {
  ...smallModelPlan,
  demonstrations: { look: 60, find: 40 },
  warmStart: { ...smallModelPlan.warmStart, epochs: 2, batch: 10, validateEvery: 10 },
  reinforcement: { ...smallModelPlan.reinforcement, steps: 10, groups: 4, groupSize: 5, validateEvery: 0 },
  tasks: { validation: 10, test: 100, unseenParaphrases: 20 },
}

test('the calls of a training: demonstrations once, everything else with its overhead', () => {
  // 100 demonstrations; 2 validations of 10, 3 tests of 100, 20 unseen, 200 of RL, each with half as much again.
  expect(plannedCalls(plan, 1)).toBe(100 + 1.5 * (20 + 300 + 20 + 200))
  expect(plannedCalls(plan, 2)).toBe(2 * plannedCalls(plan, 1))
})

test('the forecast says how long the rate makes it, and warns of a budget that will not do', () => {
  const forecast = (left: number, callsPerSecond?: number): string =>
    callForecast(plan, { left, callsPerSecond, perTask: 1 })
  expect(forecast(1000)).toBe('about 910 calls are ahead')
  expect(forecast(1000, 10)).toBe('about 910 calls are ahead, at least 1 min 31 s at 10 a second')
  expect(forecast(900, 10)).toMatch(/900 are left of the budget.*--max-calls.*--steps/)
})

test('--quick does what its help says, and its forecast at the usual rate is less than a minute', () => {
  const usual: TrainingPlan = {
    ...smallModelPlan,
    demonstrations: { look: 240, find: 240, 'look>find': 240 },
  }
  const quick = adjustPlan(usual, { quick: true })
  const shown = Object.values(quick.demonstrations).reduce((sum, count) => sum + count, 0)
  expect(shown).toBeGreaterThan(310)
  expect(shown).toBeLessThanOrEqual(322)
  expect(quick.reinforcement.steps).toBe(8)
  expect(quick.tasks).toEqual({ validation: 24, test: 60, unseenParaphrases: 0 })
  // What a local server is called at: 50 a second.
  expect(plannedCalls(quick, 1.4) / 50).toBeLessThan(60)
  expect(plannedCalls(usual, 1.4) / 50).toBeGreaterThan(600)
  // What was asked for by number stays.
  expect(adjustPlan(usual, { quick: true, steps: 30, tasks: 90 })).toMatchObject({
    reinforcement: { steps: 30 },
    tasks: { test: 90 },
  })
  expect(quickCounts(90)).toMatchObject({ test: 90, 'unseen-paraphrase': 0 })
  expect(adjustPlan(usual, {})).toEqual(usual)
})
