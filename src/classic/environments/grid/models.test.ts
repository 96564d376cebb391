import { expect, test } from 'vitest'
import { createVectorEnvironment, outcomesOf } from '../../environment/index.ts'
import type { Context, FiniteModel, FiniteDefinition } from '../../environment/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { chain, combinationLock, createDeepSea, darkRoom5, fourRooms } from './index.ts'

const cases: readonly (readonly [FiniteDefinition, Context])[] = [
  [chain, {}],
  [chain, { length: 3, slip: 0, large: 7 }],
  [combinationLock, { length: 3, slip: 0.3, code: 4 }],
  [createDeepSea(4), { slip: 0.25, moveCost: 0.4, mapping: 9 }],
  [darkRoom5, { goalX: 1, goalY: 3, slip: 0.2 }],
  [fourRooms, { slip: 0.3, goal: 20, layout: 12 }],
]

test.each(cases.map(([definition, context]) => [definition.name, context, definition] as const))(
  'the exact model of %s is what play shows',
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

test('optima by dynamic programming', () => {
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
