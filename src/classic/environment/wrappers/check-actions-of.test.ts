import { expect, test } from 'vitest'
import { AgogeError } from '../../../error.ts'
import { box, multiDiscrete } from '../space.ts'
import { counter } from '../testing/definitions.ts'
import { createVectorEnvironment } from '../vector.ts'
import type { Autoreset } from '../vector.ts'
import { defineEnvironment } from '../definition.ts'
import { checkActionsOf, writeActions } from './check-actions-of.ts'

/** Pushes a point; says NaN when it is asked to, by actions of exactly 0.25 and 0.75. */
const point = defineEnvironment({
  name: 'point',
  observation: box([1], -9, 9),
  action: box([2], [-0.1, -1], [0.1, 1]),
  context: {},
  stateSize: 1,
  reset({ state }, i) {
    state[i] = 0
  },
  step({ state, actions, rewards, terminated }, i) {
    const said = actions[i * 2 + 1]
    state[i] = said === 0.25 ? NaN : state[i] + 1
    rewards[i] = said === 0.75 ? Infinity : 0
    terminated[i] = state[i] >= 3 ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
})

const errorOf = (act: () => void): AgogeError => {
  try {
    act()
  } catch (error) {
    if (AgogeError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

test.each<[number[], string, string]>([
  [[0, 0, NaN, 0], 'not-a-number', 'point, environment 1, step 3: action[0] is NaN'],
  [[0, 1.5, 0, 0], 'not-in-space', 'point, environment 0, step 3: action[1] is 1.5'],
  [[0, 0, 0, 0.25], 'not-a-number', 'point, environment 1, step 3: observation[0] is NaN'],
  [[0, 0.75, 0, 0], 'not-a-number', 'point, environment 0, step 3: reward is Infinity'],
])('the actions %o are refused', (actions, code, message) => {
  const env = checkActionsOf(createVectorEnvironment(point, { numEnvs: 2 }))
  env.reset()
  // A float32 0.1 is a little above 0.1, and inside all the same.
  env.actions.fill(0.1)
  env.step()
  env.step()
  env.actions.set(actions)
  const error = errorOf(() => env.step())
  expect(error.message).toBe(message)
  expect(error.code).toBe(code)
})

test('invalid and masked choices are refused', () => {
  const env = checkActionsOf(
    createVectorEnvironment(counter, { numEnvs: 2, contextFor: () => ({ goal: 3 }) }),
  )
  env.reset()
  for (const [choice, code] of [
    [3, 'not-in-space'],
    [0.5, 'not-in-space'],
    [-1, 'not-in-space'],
  ] as const) {
    env.actions.set([0, choice])
    expect(errorOf(() => env.step()).code).toBe(code)
  }
  env.actionMask[5] = 0
  env.actions.set([0, 2])
  const error = errorOf(() => env.step())
  expect([error.code, error.message]).toEqual([
    'masked-action',
    'counter, environment 1, step 1: action 2 is not allowed',
  ])
})

test.each<Autoreset>(['same-step', 'next-step'])(
  'what waits for a reset is not looked at: %s',
  (autoreset) => {
    const env = checkActionsOf(createVectorEnvironment(point, { numEnvs: 1, autoreset }))
    env.reset()
    for (let t = 0; t < 3; t++) env.step()
    expect(env.terminated[0]).toBe(1)
    env.actions.fill(NaN)
    if (autoreset === 'next-step') {
      env.step()
      expect(env.observations[0]).toBe(0)
    }
    expect(errorOf(() => env.step()).message).toBe('point, environment 0, step 1: action[0] is NaN')
  },
)

test('actions of a wrong shape are refused', () => {
  const env = createVectorEnvironment(point, { numEnvs: 2 })
  writeActions(env, [1, 2, 3, 4])
  expect([...env.actions]).toEqual([1, 2, 3, 4])
  writeActions(env, [
    [5, 6],
    [7, 8],
  ])
  expect([...env.actions]).toEqual([5, 6, 7, 8])
  expect(() => writeActions(env, [1, 2, 3])).toThrow('point: the actions have a wrong shape')
  expect(() => writeActions(env, [[1, 2], [3]])).toThrow('point, environment 1: the action has a wrong shape')
  expect(() => writeActions(env, [1, 2])).toThrow('point, environment 0: the action has a wrong shape')
  const choices = createVectorEnvironment({ ...point, action: multiDiscrete([2]) }, { numEnvs: 3 })
  writeActions(choices, [1, 0, 1])
  expect([...choices.actions]).toEqual([1, 0, 1])
})
