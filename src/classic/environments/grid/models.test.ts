import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import {
  type Context,
  createVectorEnvironment,
  type FiniteDefinition,
  type FiniteModel,
  outcomesOf,
} from '../../environment/index.ts'
import { chain } from './chain.ts'
import { combinationLock, lockDigit } from './combination-lock.ts'
import { darkKeyDoor, darkRoom, darkRoom3, darkRoom5 } from './dark-rooms.ts'
import { createDeepSea, deepSea, deepSeaRight } from './deep-sea.ts'
import { fourRooms } from './four-rooms.ts'
import { shortestPlan } from './shared/exact.ts'

const cases: readonly (readonly [FiniteDefinition, Context])[] = [
  [chain, {}],
  [chain, { length: 3, slip: 0, large: 7 }],
  [combinationLock, { length: 3, slip: 0.3, code: 4 }],
  [createDeepSea(4), { slip: 0.25, moveCost: 0.4, mapping: 9 }],
  [darkRoom5, { goalX: 1, goalY: 3, slip: 0.2 }],
  [fourRooms, { slip: 0.3, goal: 20, layout: 12 }],
]

test.each(cases.map(([definition, context]) => [definition.name, context, definition] as const))(
  'the exact model of %s agrees with sampled steps',
  (_, context, definition) => {
    const model = definition.transitions(context)
    const numEnvs = 200
    const vector = createVectorEnvironment(definition, { numEnvs, seed: 1, contextFor: () => context })
    const random = createRandom('play')
    const visits = new Map<number, Map<string, number>>()
    vector.reset()
    for (let i = 0; i < numEnvs; i++) expect(model.start[vector.observations[i]]).toBeGreaterThan(0)
    for (let t = 0; t < 400; t++) {
      const before = vector.observations.slice()
      for (let i = 0; i < numEnvs; i++) vector.actions[i] = random.int(model.actions)
      vector.step()
      for (let i = 0; i < numEnvs; i++) {
        const pair = before[i] * model.actions + vector.actions[i]
        const over = vector.terminated[i] === 1 || vector.truncated[i] === 1
        const next = over ? vector.finalObservations[i] : vector.observations[i]
        const outcome = `${next} ${vector.rewards[i].toFixed(9)} ${vector.terminated[i]}`
        const counts = visits.get(pair) ?? new Map<string, number>()
        visits.set(pair, counts.set(outcome, (counts.get(outcome) ?? 0) + 1))
      }
    }
    let compared = 0
    for (const [pair, counts] of visits) {
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
      const expected = new Map<string, number>()
      const { actions } = model
      for (const { probability, state, reward, terminated } of outcomesOf(
        model,
        Math.floor(pair / actions),
        pair % actions,
      )) {
        const key = `${state} ${reward.toFixed(9)} ${terminated ? 1 : 0}`
        if (probability > 0) expected.set(key, (expected.get(key) ?? 0) + probability)
      }
      for (const key of counts.keys()) expect(expected.has(key)).toBe(true)
      for (const [key, probability] of expected) {
        const error = Math.sqrt((probability * (1 - probability)) / total)
        // Five standard errors, over a few thousand comparisons.
        expect(Math.abs((counts.get(key) ?? 0) / total - probability)).toBeLessThanOrEqual(5 * error + 1e-12)
        compared++
      }
    }
    expect(compared).toBeGreaterThan(5)
  },
)

/** Values of the best policy over a number of steps. */
function bestReturn(model: FiniteModel, steps: number): number {
  let value = new Float64Array(model.states)
  for (let t = 0; t < steps; t++) {
    value = value.map((_, state) => {
      const values = Array.from({ length: model.actions }, (_, action) =>
        outcomesOf(model, state, action).reduce(
          (sum, next) => sum + next.probability * (next.reward + (next.terminated ? 0 : value[next.state])),
          0,
        ),
      )
      return Math.max(...values)
    })
  }
  return value.reduce((sum, entry, state) => sum + entry * model.start[state], 0)
}

test('optimal values equal those of dynamic programming', () => {
  const deepSea = createDeepSea(6)
  expect(bestReturn(deepSea.transitions(), 6)).toBeCloseTo(0.99, 12)
  // Once a move has slipped, the best policy goes left for nothing.
  const always = 0.9 ** 5 - 0.01
  const best = bestReturn(deepSea.transitions({ slip: 0.1 }), 6)
  expect(best - always).toBeGreaterThan(0)
  expect(best - always).toBeLessThan(0.01)
  expect(bestReturn(darkRoom5.transitions({ goalX: 0, goalY: 1 }), 20)).toBe(18)
  expect(bestReturn(combinationLock.transitions({ length: 4 }), 4)).toBe(1)
  expect(bestReturn(combinationLock.transitions({ length: 4 }), 3)).toBe(0)
  // Four steps to the last state, and its reward in each of the others.
  expect(bestReturn(chain.transitions({ slip: 0 }), 100)).toBe(96 * 10)
  expect(bestReturn(fourRooms.transitions(), 500)).toBeCloseTo(1, 12)
})

/** The return of always going right, or of always going left, in DeepSea. */
function sail(context: Context, right: boolean): number {
  const vector = createVectorEnvironment(deepSea, {
    numEnvs: 1,
    autoreset: 'disabled',
    contextFor: () => context,
  })
  vector.reset()
  while (vector.terminated[0] === 0) {
    const [row, column] = vector.envs.state
    expect(vector.observations[0]).toBe(row * 10 + column)
    const action = deepSeaRight(10, context.mapping ?? 0, row, column)
    vector.actions[0] = right ? action : 1 - action
    vector.step()
  }
  expect(vector.observations[0]).toBe(100)
  expect(vector.lengths[0]).toBe(10)
  return vector.returns[0]
}

test('always moving right in DeepSea returns 1 - move cost, always left 0', () => {
  for (const mapping of [0, 1, 77]) {
    expect(sail({ mapping }, true)).toBeCloseTo(0.99, 12)
    expect(sail({ mapping, moveCost: 0.5 }, true)).toBeCloseTo(0.5, 12)
    expect(sail({ mapping }, false)).toBe(0)
  }
})

test('exactly one of 2^N action sequences reaches the reward of DeepSea, for every mapping', () => {
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

test('the mean return of DeepSea with slip follows from its probability of success', () => {
  const numEnvs = 5000
  const vector = createVectorEnvironment(deepSea, {
    numEnvs,
    autoreset: 'disabled',
    contextFor: () => ({ slip: 0.1 }),
  })
  vector.reset()
  for (let t = 0; t < 10; t++) {
    for (let i = 0; i < numEnvs; i++) {
      vector.actions[i] = deepSeaRight(10, 0, vector.envs.state[i * 2], vector.envs.state[i * 2 + 1])
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

test('the return of the chain equals that of dynamic programming', () => {
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

test('the combination lock opens with its complete code only', () => {
  const vector = createVectorEnvironment(combinationLock, {
    numEnvs: 50,
    contextFor: (envIndex) => ({ code: envIndex, length: 2 + (envIndex % 4) }),
  })
  vector.reset()
  for (let i = 0; i < 50; i++) {
    const digits = Array.from({ length: 2 + (i % 4) }, (_, k) => lockDigit(i, k))
    expect(shortestPlan(combinationLock, vector.envs, i)).toEqual(digits)
  }
})

test('a wrong digit returns to the start', () => {
  const vector = createVectorEnvironment(combinationLock, { numEnvs: 1 })
  vector.reset()
  vector.actions[0] = lockDigit(0, 0)
  vector.step()
  expect(vector.observations[0]).toBe(1)
  vector.actions[0] = (lockDigit(0, 1) + 1) % 4
  vector.step()
  expect([vector.observations[0], vector.rewards[0]]).toEqual([0, 0])
  expect(combinationLock.text?.(vector.envs, 0)).toBe('_ _ _ _ _')
})

/** The mean return over all goals of a policy that walks straight to the goal and stays. */
function oracleMean(definition: typeof darkRoom, size: number): number {
  const goals = size * size
  const vector = createVectorEnvironment(definition, {
    numEnvs: goals,
    autoreset: 'disabled',
    contextFor: (envIndex) => ({ goalX: envIndex % size, goalY: Math.floor(envIndex / size) }),
  })
  vector.reset()
  while (vector.truncated[0] === 0) {
    for (let g = 0; g < goals; g++) {
      const cell = vector.observations[g]
      const [dx, dy] = [(g % size) - (cell % size), Math.floor(g / size) - Math.floor(cell / size)]
      vector.actions[g] = dx > 0 ? 1 : dx < 0 ? 3 : dy > 0 ? 2 : dy < 0 ? 0 : 4
    }
    vector.step()
  }
  return vector.returns.reduce((sum, value) => sum + value, 0) / goals
}

test('an oracle reaches the known mean returns of the three dark rooms', () => {
  expect(oracleMean(darkRoom, 9)).toBeCloseTo(21 - 40 / 9 - 1 / 81, 12)
  expect(oracleMean(darkRoom, 9).toFixed(2)).toBe('16.54')
  expect(oracleMean(darkRoom5, 5).toFixed(2)).toBe('18.56')
  expect(oracleMean(darkRoom3, 3).toFixed(2)).toBe('4.56')
})

test('a dark room starts in the centre, keeps the agent inside, and shows only its cell', () => {
  const vector = createVectorEnvironment(darkRoom5, { numEnvs: 1 })
  vector.reset()
  expect(vector.observations[0]).toBe(12)
  const seen = [0, 0, 0, 1, 1, 1, 4].map((action) => {
    vector.actions[0] = action
    vector.step()
    return vector.observations[0]
  })
  expect(seen).toEqual([7, 2, 2, 3, 4, 4, 4])
  expect(darkRoom5.text?.(vector.envs, 0)).toBe('G...@\n.....\n.....\n.....\n.....')
})

test('key and door have reward 1 each, and the door ends the episode', () => {
  const vector = createVectorEnvironment(darkKeyDoor, {
    numEnvs: 20,
    autoreset: 'disabled',
    contextFor: (envIndex) => ({ keyX: envIndex % 9, keyY: 3, doorX: 8, doorY: envIndex % 7 }),
  })
  vector.reset({ seed: 3 })
  for (let i = 0; i < 20; i++) {
    const { state } = vector.envs
    const start = [state[i * 3], state[i * 3 + 1]]
    const key = [i % 9, 3]
    const door = [8, i % 7]
    const distance = (a: number[], b: number[]): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])
    // A step has to be made to pick up a key that lies where the agent begins.
    const expected = Math.max(1, distance(start, key)) + distance(key, door)
    expect(shortestPlan(darkKeyDoor, vector.envs, i)?.length).toBe(expected)
  }
})
