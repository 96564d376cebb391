import { expect, test } from 'vitest'
import { finiteModel } from '../environment/index.ts'
import { effectiveHorizon } from './effective-horizon.ts'

/** `length` right actions in a row pay 1 at the end; a wrong one ends the episode, the first one pays `comfort` for it. */
const lock = (length: number, comfort = 0) =>
  finiteModel({
    states: length,
    actions: 2,
    start: 0,
    outcomes: (state, action) => {
      const last = state === length - 1
      const right = action === 0
      const reward = right ? Number(last) : state === 0 ? comfort : 0
      return [{ probability: 1, state: Math.min(length - 1, state + 1), reward, terminated: last || !right }]
    },
  })

/** One state in which action 0 always pays `reward` and others nothing. */
const paying = (reward: number) =>
  finiteModel({
    states: 1,
    actions: 2,
    start: 0,
    outcomes: (_, action) => [
      { probability: 1, state: 0, reward: action === 0 ? reward : 0, terminated: false },
    ],
  })

test('a lock is as hard as it is long', () => {
  // k choices of 4 looked through leave 2^-(4 - k) to random play: k + 2 (4 - k) is least for k = 4.
  expect(effectiveHorizon(lock(4), 4)).toEqual({ horizon: 4, k: 4, gap: 1 })
})

test('a comfortable end is harder by the gap, and what looks too little ahead is not enough', () => {
  const { horizon, k, gap } = effectiveHorizon(lock(4, 0.3), 4)
  expect({ k, gap }).toMatchObject({ k: 4, gap: expect.closeTo(0.7, 12) })
  expect(horizon).toBeCloseTo(4 + 2 * Math.log2(1 / 0.7), 12)
  // Random play makes 1/2, 1/4, 1/8 of the way on, so that k = 2 takes the 0.4 of the start, and k = 3 does not.
  expect(effectiveHorizon(lock(4, 0.4), 4).k).toBeGreaterThanOrEqual(3)
})

test('where each reward comes at once, one step is enough however long it lasts', () => {
  expect(effectiveHorizon(paying(1), 5)).toEqual({ horizon: 1, k: 1, gap: 1 })
  expect(effectiveHorizon(paying(0.5), 5)).toEqual({ horizon: 3, k: 1, gap: 0.5 })
})

test('where every action is as good, nothing is hard', () => {
  expect(effectiveHorizon(paying(0), 5)).toEqual({ horizon: 1, k: 1, gap: 1 })
})
