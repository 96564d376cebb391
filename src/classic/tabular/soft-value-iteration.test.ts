import { expect, test } from 'vitest'
import { finiteModel } from '../environment/index.ts'
import { frozenLake } from '../environments/toy-text/frozen-lake.ts'
import { softValueIteration, valueIteration } from './dynamic-programming.ts'

test('the odds of one choice between rewards 1 and 0 are exp(1 / temperature)', () => {
  const model = finiteModel({
    states: 1,
    actions: 2,
    start: 0,
    outcomes: (_, action) => [{ probability: 1, state: 0, reward: 1 - action, terminated: true }],
  })
  const { values, policy } = softValueIteration(model, { temperature: 0.5 })
  expect(policy[0] / policy[1]).toBeCloseTo(Math.exp(2), 10)
  expect(values[0]).toBeCloseTo(0.5 * Math.log(Math.exp(2) + 1), 10)
})

test('soft value iteration approaches value iteration as the temperature approaches 0', () => {
  const model = frozenLake.transitions()
  const { values } = softValueIteration(model, { temperature: 1e-6, gamma: 0.95, tolerance: 1e-10 })
  const hard = valueIteration(model, { gamma: 0.95 })
  expect(values[0]).toBeCloseTo(hard.values[0], 4)
})

test('a temperature of 0, or no discount with endless entropy, is refused', () => {
  const model = frozenLake.transitions()
  expect(() => softValueIteration(model, { temperature: 0 })).toThrow('temperature')
  expect(() => softValueIteration(model, { temperature: 1, gamma: 1, maxSweeps: 100 })).toThrow('converge')
})
