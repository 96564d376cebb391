import { expect, test } from 'vitest'
import { smallModelPlan } from '../training/index.ts'
import type { TrainingPlan } from '../training/index.ts'
import { callForecast, plannedCalls } from './planned-calls.ts'

const plan: TrainingPlan = {
  ...smallModelPlan,
  demonstrations: { look: 60, find: 40 },
  warmStart: { ...smallModelPlan.warmStart, epochs: 2, batch: 10, validateEvery: 10 },
  reinforcement: { ...smallModelPlan.reinforcement, steps: 10, groups: 4, groupSize: 5, validateEvery: 0 },
  tasks: { validation: 10, test: 100, unseenWording: 20 },
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
