import { expect, test } from 'vitest'
import { finiteModel } from '../environment/index.ts'
import { effectiveHorizon } from './effective-horizon.ts'

/**
 * `length` right actions in a row pay 1 at the end. A wrong action ends the episode; at the first step it pays
 * `comfort`.
 */
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

test('the effective horizon of a lock is its length', () => {
  // Looking k of 4 steps ahead leaves 2^-(4 - k) to random play. k + 2 (4 - k) is least for k = 4.
  expect(effectiveHorizon(lock(4), 4)).toEqual({ horizon: 4, k: 4, gap: 1 })
})

test('a distracting reward adds the gap to the horizon, and a lookahead that is too short fails', () => {
  const { horizon, k, gap } = effectiveHorizon(lock(4, 0.3), 4)
  expect({ k, gap }).toMatchObject({ k: 4, gap: expect.closeTo(0.7, 12) })
  expect(horizon).toBeCloseTo(4 + 2 * Math.log2(1 / 0.7), 12)
  // Random play succeeds with 1/2, 1/4, 1/8, so that k = 2 prefers the 0.4 of the start, and k = 3 does not.
  expect(effectiveHorizon(lock(4, 0.4), 4).k).toBeGreaterThanOrEqual(3)
})

test('with immediate rewards a lookahead of one step suffices', () => {
  expect(effectiveHorizon(paying(1), 5)).toEqual({ horizon: 1, k: 1, gap: 1 })
  expect(effectiveHorizon(paying(0.5), 5)).toEqual({ horizon: 3, k: 1, gap: 0.5 })
})

test('the horizon is least if all actions are equally good', () => {
  expect(effectiveHorizon(paying(0), 5)).toEqual({ horizon: 1, k: 1, gap: 1 })
})
