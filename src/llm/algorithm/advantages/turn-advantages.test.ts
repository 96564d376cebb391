import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  adaptKlCoefficient,
  kimiLengthRewards,
  klRewards,
  maskOverlong,
  relativeLengthPenalty,
} from './reward-shaping.ts'
import {
  archerAdvantages,
  archerTargets,
  cutSegments,
  segmentAdvantages,
  spreadOverTokens,
  stepProgressRewards,
} from './critics.ts'
import { distillationAdvantages } from '../losses/imitation.ts'
import { expertMembers, informativeGroups } from './group.ts'
import { maxAtKAdvantages, passAtKAdvantages } from './best-of-k.ts'
import { opoAdvantages, remaxAdvantages } from './baselines.ts'
import { reinforcePlusPlusAdvantages } from './reinforce-plus-plus.ts'
import { stepGroupAdvantages, turnLevelAdvantages } from './turns.ts'

test('remax subtracts the greedy reward; without one, advantages are 0', () => {
  expect(remaxAdvantages([1, null, 0.25], 0.5)).toEqual([0.5, 0, -0.25])
  expect(remaxAdvantages([1, 0], null)).toEqual([0, 0])
})

test('advantages with the weights of their baseline sum to 0', () => {
  const member = fc.record({
    reward: fc.integer({ min: -8, max: 8 }),
    length: fc.integer({ min: 1, max: 50 }),
  })
  fc.assert(
    fc.property(fc.array(member, { minLength: 2, maxLength: 9 }), (members) => {
      const lengths = members.map(({ length }) => length)
      const values = opoAdvantages(
        members.map(({ reward }) => reward),
        lengths,
      )
      expect(values.reduce((sum, value, i) => sum + value * lengths[i], 0)).toBeCloseTo(0, 8)
    }),
  )
})

test('the best of k: equal rewards give zeros, masked members have no effect', () => {
  expect(maxAtKAdvantages([1, 1, 1], { k: 2 })).toEqual([0, 0, 0])
  expect(maxAtKAdvantages([1, null, 0, 0.5], { k: 2 })).toEqual(
    maxAtKAdvantages([1, 0, 0.5], { k: 2 }).toSpliced(1, 0, 0),
  )
  expect(maxAtKAdvantages([1, null, 0], { k: 3 })).toEqual([0, 0, 0])
  expect(maxAtKAdvantages([], { k: 2 })).toEqual([])
  expect(() => maxAtKAdvantages([1, 0], { k: 3 })).toThrow(/at least k/)
  expect(() => maxAtKAdvantages([1, 0], { k: 1 })).toThrow(/at least k/)
})

test('pass@k: zeros if every choice has the same value; large groups stay finite', () => {
  expect(passAtKAdvantages([0, 0, 0], { k: 2 })).toEqual([0, 0, 0])
  expect(passAtKAdvantages([1, 1, 0], { k: 2 })).toEqual([0, 0, 0])
  expect(passAtKAdvantages([1, null], { k: 2 })).toEqual([0, 0])
  expect(passAtKAdvantages([], { k: 2 })).toEqual([])
  const many = passAtKAdvantages(
    Array.from({ length: 2000 }, (_, i) => (i === 0 ? 1 : 0)),
    { k: 400 },
  )
  expect(many.every(Number.isFinite)).toBe(true)
  expect(many[0]).toBeCloseTo(Math.sqrt((1 - 0.2) / 0.2), 6)
  expect(() => passAtKAdvantages([1, 0], { k: 0 })).toThrow(/integer/)
})

test('reinforce++ of one token or of equal returns gives zeros', () => {
  expect(reinforcePlusPlusAdvantages([[1]])).toEqual([Float32Array.of(0)])
  expect(reinforcePlusPlusAdvantages([[], []])).toEqual([new Float32Array(0), new Float32Array(0)])
  expect(reinforcePlusPlusAdvantages([[0, 1], [1]])).toEqual([new Float32Array(2), new Float32Array(1)])
})

test('empty groups have no advantages of turns or states', () => {
  expect(turnLevelAdvantages([])).toEqual([])
  expect(turnLevelAdvantages([null, { turns: [], outcome: 1 }])).toEqual([[], []])
  expect(stepGroupAdvantages([null])).toEqual([[]])
  expect(stepGroupAdvantages([{ states: ['a', 'b'], rewards: [0, 1] }])).toEqual([[0, 0]])
})

test('the advantages of segments sum to the outcome and reach the tokens', () => {
  const advantages = segmentAdvantages([0.4, 0.7, 0.2], 1)
  expect(advantages.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0.6)
  expect(segmentAdvantages([], 1)).toEqual([])
  const tokens = spreadOverTokens([1, 2, 3], [0, 2, 2], 4)
  expect(Array.from(tokens)).toEqual([1, 1, 3, 3])
})

test('segments end with every n-th decision and are never empty', () => {
  const sure = Math.log(0.99)
  const open = Math.log(0.5)
  expect(cutSegments([sure, open, sure, open, open, sure], { decisions: 2 })).toEqual([0, 4])
  expect(cutSegments([sure, open, open], { decisions: 2 })).toEqual([0])
  expect(cutSegments([open])).toEqual([0])
  expect(cutSegments([])).toEqual([])
})

test('archer: targets stop at the end and bootstrap elsewhere, with the smaller Q', () => {
  const steps = { rewards: [0, 1, 0.5], nextValues: [2, 9, 4], terminated: [0, 1, 0] }
  expect(Array.from(archerTargets(steps, { gamma: 0.5 }))).toEqual([1, 1, 2.5])
  expect(Array.from(archerAdvantages({ q1: [1, 3], q2: [2, 2], values: [0.5, 2.5] }))).toEqual([0.5, -0.5])
})

test('progress is rewarded with and without grounding', () => {
  expect(Array.from(stepProgressRewards([0.5, 0.25]))).toEqual([0.5, 0.25])
  expect(Array.from(stepProgressRewards([0.5, 0.25], [1, 0], { alpha: 2, beta: 0.25 }))).toEqual([1.25, 0.5])
})

test('distillation: the teacher minus the sampler, plus discounted later tokens', () => {
  const sequence = { samplerLogprobs: [-1, -2], teacherLogprobs: [-0.5, -4] }
  expect(Array.from(distillationAdvantages(sequence))).toEqual([0.5, -2])
  expect(Array.from(distillationAdvantages(sequence, { coefficient: 2, discount: 0.5 }))).toEqual([-1, -4])
})

test('divergence in the reward: no tokens give no rewards; the coefficient follows the target', () => {
  const none = { logprobs: [], referenceLogprobs: [], outcome: 1 }
  expect(klRewards(none, { coefficient: 1 })).toEqual(new Float32Array(0))
  const horizon = { target: 2, horizon: 100, steps: 10 }
  expect(adaptKlCoefficient(0.5, 2, horizon)).toBe(0.5)
  expect(adaptKlCoefficient(0.5, 100, horizon)).toBeCloseTo(0.51)
  expect(adaptKlCoefficient(0.5, 0, horizon)).toBeCloseTo(0.49)
})

test('lengths: cut-off answers are masked, equal lengths have no penalty, the relative penalty grows with success', () => {
  expect(maskOverlong([1, 0, null], [0, 1, 0])).toEqual([1, null, null])
  expect(kimiLengthRewards([5, 5], [true, false])).toEqual([0, 0])
  expect(kimiLengthRewards([10, 999, 20], [true, null, true])).toEqual([0.5, 0, -0.5])
  expect(kimiLengthRewards([], [])).toEqual([])
  expect(relativeLengthPenalty([1, null, 0], [10, 99, 5], { weight: 0.2 })).toEqual([0.9, null, -0.05])
  expect(relativeLengthPenalty([1, null], [0, 0], { weight: 0.2 })).toEqual([1, null])
})

test('only groups that differ are worth training on', () => {
  const groups = [[1, 0], [1, 1], [null, 1], [], [0.4, 0.5, null]]
  expect(informativeGroups(groups)).toEqual([0, 4])
  expect(informativeGroups(groups, { spread: 0.5 })).toEqual([0])
})

test('experts are the best above the threshold, never masked ones', () => {
  const groups = [[1, 0, 1, null], [0.2, 0.9, 0.9], [null], []]
  expect(expertMembers(groups)).toEqual([[0, 2], [], [], []])
  expect(expertMembers(groups, { threshold: -Infinity, best: 1 })).toEqual([[0], [1], [], []])
})
