import { array, assert, double, integer, pre, property } from 'fast-check'
import { expect, test } from 'vitest'
import {
  createVectorEnvironment,
  finiteModel,
  finiteEnvironment,
  outcomesOf,
  sampleCategorical,
} from './index.ts'
import type { TransitionOutcome } from './index.ts'

const stay = (state: number): TransitionOutcome[] => [{ probability: 1, state, reward: 0, terminated: false }]
/** Two states; action 1 leads from the first to the second with 0.75 and ends there. */
const lamp = finiteModel({
  states: 2,
  actions: 2,
  start: 0,
  outcomes: (state, action) =>
    action === 0 || state === 1
      ? stay(state)
      : [
          { probability: 0.25, state: 0, reward: -1, terminated: false },
          { probability: 0.75, state: 1, reward: 2, terminated: true },
        ],
})

test('outcomes are consecutive rows in the given order', () => {
  expect([...lamp.offsets]).toEqual([0, 1, 3, 4, 5])
  expect(outcomesOf(lamp, 0, 1)).toEqual([
    { probability: 0.25, state: 0, reward: -1, terminated: false },
    { probability: 0.75, state: 1, reward: 2, terminated: true },
  ])
  expect(outcomesOf(lamp, 1, 1)).toEqual(stay(1))
})

test.each([
  ['probabilities that do not sum to 1', [{ probability: 0.5, state: 0, reward: 0, terminated: false }]],
  ['no outcomes', []],
  ['a state that is not there', [{ probability: 1, state: 2, reward: 0, terminated: false }]],
  ['a reward that is not a number', [{ probability: 1, state: 0, reward: Number.NaN, terminated: false }]],
  [
    'a negative probability',
    [
      { probability: 2, state: 0, reward: 0, terminated: false },
      { probability: -1, state: 0, reward: 0, terminated: false },
    ],
  ],
])('%s is refused', (_what, outcomes) => {
  const make = (): unknown => finiteModel({ states: 2, actions: 1, start: 0, outcomes: () => outcomes })
  expect(make).toThrow(expect.objectContaining({ code: 'bad-model' }))
})

test('an invalid start distribution is refused', () => {
  const make = (): unknown => finiteModel({ states: 2, actions: 1, start: [0.5, 0.4], outcomes: stay })
  expect(make).toThrow(/the start/)
})

test('a draw selects the first index with a cumulative probability above it', () => {
  const weights = array(integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 })
  assert(
    property(weights, double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (counts, draw) => {
      const total = counts.reduce((sum, count) => sum + count, 0)
      pre(total > 0)
      const chances = counts.map((count) => count / total)
      const cumulative = chances.map((_, k) =>
        chances.slice(0, k + 1).reduce((sum, chance) => sum + chance, 0),
      )
      const expected = Math.max(
        0,
        cumulative.findIndex((sum) => sum > draw),
      )
      expect(sampleCategorical([7, ...chances], 1, chances.length + 1, draw)).toBe(expected + 1)
    }),
  )
})

test('a finite environment samples its model with one draw per reset and per step', () => {
  let draws = 0
  const stream = {
    random: () => [0.9, 0.2, 0.3][draws++ % 3],
    uniform: () => 0,
    integers: () => 0,
    normal: () => 0,
  }
  const environment = createVectorEnvironment(finiteEnvironment('lamp', lamp), {
    numEnvs: 1,
    autoreset: 'disabled',
    stream: () => ({ ...stream, state: () => draws, restore: () => {} }),
  })
  environment.reset()
  environment.actions[0] = 1
  environment.step()
  expect([environment.rewards[0], environment.observations[0], environment.terminated[0]]).toEqual([-1, 0, 0])
  environment.step()
  expect([environment.rewards[0], environment.observations[0], environment.terminated[0]]).toEqual([2, 1, 1])
  expect(draws).toBe(3)
})

test('noise changes the environment and its model in the same way', () => {
  const definition = finiteEnvironment('lamp', lamp)
  expect(definition.transitions()).toBe(lamp)
  const noisy = definition.transitions({ noise: 0.4 })
  const reached = outcomesOf(noisy, 0, 1).filter(({ state }) => state === 1)
  expect(reached.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(0.6)

  const environment = createVectorEnvironment(definition, {
    numEnvs: 4000,
    contextFor: () => ({ noise: 0.4 }),
  })
  environment.reset()
  environment.actions.fill(1)
  environment.step()
  const share = environment.terminated.reduce((sum, end) => sum + end, 0) / 4000
  expect(Math.abs(share - 0.6)).toBeLessThan(4 * Math.sqrt((0.6 * 0.4) / 4000))
})
