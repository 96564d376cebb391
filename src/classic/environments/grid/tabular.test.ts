import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import type { Context } from '../../environment/index.ts'
import {
  chain,
  combinationLock,
  createDeepSea,
  deepSea,
  deepSeaRight,
  lockDigit,
  shortestPlan,
} from './index.ts'

/** The return of always going right, or of always going left, in DeepSea. */
function sail(context: Context, right: boolean): number {
  const vector = createVectorEnvironment(deepSea, {
    numEnvs: 1,
    autoreset: 'disabled',
    contextFor: () => context,
  })
  vector.reset()
  while (vector.terminated[0] === 0) {
    const [row, column] = vector.numEnvs.state
    expect(vector.observations[0]).toBe(row * 10 + column)
    const action = deepSeaRight(10, context.mapping ?? 0, row, column)
    vector.actions[0] = right ? action : 1 - action
    vector.step()
  }
  expect(vector.observations[0]).toBe(100)
  expect(vector.lengths[0]).toBe(10)
  return vector.returns[0]
}

test('DeepSea: right all the way returns 1 - move cost, left nothing', () => {
  for (const mapping of [0, 1, 77]) {
    expect(sail({ mapping }, true)).toBeCloseTo(0.99, 12)
    expect(sail({ mapping, moveCost: 0.5 }, true)).toBeCloseTo(0.5, 12)
    expect(sail({ mapping }, false)).toBe(0)
  }
})

test('DeepSea: of all 2^N sequences of actions one reaches the end, whatever the mapping', () => {
  const size = 6
  const vector = createVectorEnvironment(createDeepSea(size), {
    numEnvs: 2 ** size,
    autoreset: 'disabled',
    contextFor: () => ({ mapping: 5 }),
  })
  vector.reset()
  for (let t = 0; t < size; t++) {
    for (let i = 0; i < 2 ** size; i++) vector.actions[i] = (i >> t) & 1
    vector.step()
  }
  expect(vector.returns.filter((value) => value > 0).length).toBe(1)
})

test('DeepSea with slip returns what its chance of success gives', () => {
  const numEnvs = 5000
  const vector = createVectorEnvironment(deepSea, {
    numEnvs,
    autoreset: 'disabled',
    contextFor: () => ({ slip: 0.1 }),
  })
  vector.reset()
  for (let t = 0; t < 10; t++) {
    for (let i = 0; i < numEnvs; i++) {
      vector.actions[i] = deepSeaRight(10, 0, vector.numEnvs.state[i * 2], vector.numEnvs.state[i * 2 + 1])
    }
    vector.step()
  }
  const mean = vector.returns.reduce((sum, value) => sum + value, 0) / numEnvs
  expect(Math.abs(mean - (0.9 ** 9 - 0.01))).toBeLessThan(0.025)
})

/** The expected return of a fixed action over `steps`, by dynamic programming over the chain's states. */
function chainValue(
  action: 0 | 1,
  steps: number,
  { length = 5, slip = 0.2, small = 2, large = 10 }: Context,
) {
  let value = new Float64Array(length)
  for (let t = 0; t < steps; t++) {
    value = value.map((_, state) => {
      const on = state === length - 1 ? large + value[state] : value[state + 1]
      const back = small + value[0]
      return action === 0 ? (1 - slip) * on + slip * back : (1 - slip) * back + slip * on
    })
  }
  return value[0]
}

test('the chain returns what dynamic programming says', () => {
  const numEnvs = 400
  for (const context of [{}, { length: 3, slip: 0.1, small: 1, large: 5 }]) {
    for (const action of [0, 1] as const) {
      const vector = createVectorEnvironment(chain, {
        numEnvs,
        contextFor: () => context,
        autoreset: 'disabled',
      })
      vector.reset()
      vector.actions.fill(action)
      while (vector.truncated[0] === 0) vector.step()
      expect(vector.lengths[0]).toBe(1000)
      const mean = vector.returns.reduce((sum, value) => sum + value, 0) / numEnvs
      const expected = chainValue(action, 1000, context)
      expect(Math.abs(mean / expected - 1)).toBeLessThan(0.02)
    }
  }
})

test('the combination lock opens by its digits and by nothing shorter', () => {
  const vector = createVectorEnvironment(combinationLock, {
    numEnvs: 50,
    contextFor: (envIndex) => ({ code: envIndex, length: 2 + (envIndex % 4) }),
  })
  vector.reset()
  for (let i = 0; i < 50; i++) {
    const digits = Array.from({ length: 2 + (i % 4) }, (_, k) => lockDigit(i, k))
    expect(shortestPlan(combinationLock, vector.numEnvs, i)).toEqual(digits)
  }
})

test('a wrong digit goes back to the start', () => {
  const vector = createVectorEnvironment(combinationLock, { numEnvs: 1 })
  vector.reset()
  vector.actions[0] = lockDigit(0, 0)
  vector.step()
  expect(vector.observations[0]).toBe(1)
  vector.actions[0] = (lockDigit(0, 1) + 1) % 4
  vector.step()
  expect([vector.observations[0], vector.rewards[0]]).toEqual([0, 0])
  expect(combinationLock.text?.(vector.numEnvs, 0)).toBe('_ _ _ _ _')
})
