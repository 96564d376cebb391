import { expect, test } from 'vitest'
import { createMultiAgentVector } from '../../environment/index.ts'
import type { MultiAgentDefinition } from '../../environment/index.ts'
import { climbing, penaltyGame, prisonersDilemma } from './matrix-games.ts'

/** The rewards of both for each pair of actions in the first step. */
function table(definition: MultiAgentDefinition, choices: number, context = {}): number[][][] {
  const vector = createMultiAgentVector(definition, {
    numEnvs: choices * choices,
    contextFor: () => context,
  })
  vector.reset()
  for (let i = 0; i < choices * choices; i++)
    vector.actions.set([Math.floor(i / choices), i % choices], 2 * i)
  vector.step()
  return Array.from({ length: choices }, (_, first) =>
    Array.from({ length: choices }, (_, second) => {
      const at = 2 * (first * choices + second)
      return [...vector.rewards.subarray(at, at + 2)]
    }),
  )
}

const shared = (rows: number[][]): number[][][] => rows.map((row) => row.map((value) => [value, value]))

test('matrix games reward by their tables', () => {
  expect(table(climbing, 3)).toEqual(
    shared([
      [11, -30, 0],
      [-30, 7, 6],
      [0, 0, 5],
    ]),
  )
  expect(table(penaltyGame, 3, { penalty: -40 })).toEqual(
    shared([
      [10, 0, -40],
      [0, 2, 0],
      [-40, 0, 10],
    ]),
  )
  const dilemma = (t: number, r: number, p: number, s: number) => [
    [
      [r, r],
      [s, t],
    ],
    [
      [t, s],
      [p, p],
    ],
  ]
  expect(table(prisonersDilemma, 2)).toEqual(dilemma(5, 3, 1, 0))
  expect(table(prisonersDilemma, 2, { temptation: 6, sucker: -1 })).toEqual(dilemma(6, 3, 1, -1))
})

test('the climbing game ends after 25 steps and begins again', () => {
  const vector = createMultiAgentVector(climbing, { numEnvs: 2 })
  vector.reset()
  vector.actions.set([0, 0, 1, 1])
  const returns = [0, 0, 0, 0]
  let steps = 0
  do {
    vector.step()
    steps++
    vector.rewards.forEach((reward, k) => (returns[k] += reward))
  } while (vector.truncated[0] === 0)
  expect(steps).toBe(25)
  expect(returns).toEqual([275, 275, 175, 175])
  vector.step()
  expect(vector.truncated[0]).toBe(0)
})

test("the prisoner's dilemma shows the last actions of both, with the own action first", () => {
  const vector = createMultiAgentVector(prisonersDilemma, { numEnvs: 1 })
  vector.reset()
  expect([...vector.observations]).toEqual([0, 0])
  vector.actions.set([0, 1])
  vector.step()
  expect([...vector.observations]).toEqual([2, 3])
})

test('steps before a reset and invalid choices are refused', () => {
  const vector = createMultiAgentVector(climbing, { numEnvs: 1 })
  expect(() => vector.step()).toThrow(expect.objectContaining({ code: 'reset-needed' }))
  vector.reset()
  vector.actions.set([0, 3])
  expect(() => vector.step()).toThrow(expect.objectContaining({ code: 'invalid-action' }))
})
