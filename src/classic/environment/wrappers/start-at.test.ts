import { expect, test } from 'vitest'
import { defineEnvironment } from '../definition.ts'
import { box, discrete } from '../space.ts'
import { createVectorEnvironment } from '../vector.ts'
import { startAt } from './start-at.ts'

/** Counts its steps from 0; the task ends at 3, each step pays its number. */
const counter = defineEnvironment({
  name: 'counter',
  observation: box([1], 0, 10),
  action: discrete(2),
  context: {},
  stateSize: 1,
  reset({ state }, i) {
    state[i] = 0
  },
  step({ state, rewards, terminated }, i) {
    state[i]++
    rewards[i] = state[i]
    terminated[i] = state[i] === 3 ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
})

test('episodes begin where they are put, after a reset and after an end', () => {
  const inner = createVectorEnvironment(counter, { numEnvs: 2 })
  const environment = startAt(inner, (numEnvs, i) => {
    numEnvs.state[i] = 1 + i
  })
  environment.reset()
  expect([...environment.observations]).toEqual([1, 2])
  environment.step()
  expect([...environment.observations]).toEqual([2, 2])
  expect([...environment.terminated]).toEqual([0, 1])
  expect(environment.finalObservations[1]).toBe(3)
  environment.truncate(0)
  expect(environment.observations[0]).toBe(1)
})

test.each(['same-step', 'next-step'] as const)('walking to the start leaves no trace: %s', (autoreset) => {
  const inner = createVectorEnvironment(counter, { numEnvs: 1, autoreset })
  const seen: number[] = []
  const environment = startAt(inner, (numEnvs, i) => {
    seen.push(numEnvs.terminated[i])
    numEnvs.actions[i] = 0
    counter.step(numEnvs, i, undefined as never)
    counter.step(numEnvs, i, undefined as never)
  })
  environment.reset()
  expect(environment.observations[0]).toBe(2)
  expect([environment.rewards[0], environment.terminated[0]]).toEqual([0, 0])
  environment.actions[0] = 1
  environment.step()
  expect([environment.rewards[0], environment.terminated[0], environment.lengths[0]]).toEqual([3, 1, 1])
  expect(environment.actions[0]).toBe(1)
  if (autoreset === 'next-step') environment.step()
  expect(environment.observations[0]).toBe(2)
  expect(seen).toEqual(autoreset === 'same-step' ? [0, 1] : [0, 0])
})
