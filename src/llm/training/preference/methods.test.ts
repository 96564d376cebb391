import { expect, test } from 'vitest'
import { preferenceLosses } from '../../algorithm/catalogue.ts'
import { definePreference } from '../../algorithm/define.ts'
import { dpoLoss } from '../../algorithm/preference/pairs.ts'
import { dpo, orpo, pairMethod, simpo } from './methods.ts'
import type { AnswerSums } from './answers.ts'

const answers = (logprobs: number[], lengths: number[]): AnswerSums => ({
  logprobs: Float64Array.from(logprobs),
  reference: Float64Array.from(logprobs, (logprob) => logprob - 0.25),
  lengths: Float64Array.from(lengths),
})
const batch = [answers([-3, -8, -2.5], [3, 4, 2]), answers([-5, -6, -4], [2, 5, 4])]

const overAnswers = Object.values(preferenceLosses).filter(({ of }) => of !== 'scores')

test.each(overAnswers.map((definition) => [definition.name, definition] as const))(
  '%s is a method with its gradient per answer',
  (_name, definition) => {
    const method = pairMethod(definition)
    const { value, gradients, margin, accuracy } = method.loss(batch, [])
    expect([value, margin, accuracy].every(Number.isFinite)).toBe(true)
    gradients.forEach((gradient, side) =>
      gradient.forEach((derivative, i) => {
        const at = (change: number): number => {
          const moved = batch.map((row, s) =>
            s === side ? { ...row, logprobs: row.logprobs.with(i, row.logprobs[i] + change) } : row,
          )
          return method.loss(moved, []).value
        }
        expect(derivative).toBeCloseTo((at(1e-5) - at(-1e-5)) / 2e-5, 4)
      }),
    )
  },
)

test('methods by name are those of the functions', () => {
  expect(pairMethod(preferenceLosses.simpo, { beta: 3 }).loss(batch, [])).toEqual(
    simpo({ beta: 3 }).loss(batch, []),
  )
  expect(pairMethod(preferenceLosses.orpo).loss(batch, [])).toEqual(orpo().loss(batch, []))
  const { value, gradients } = pairMethod(preferenceLosses.dpo, { noise: 0.1 }).loss(batch, [])
  expect({ value, gradients }).toEqual({
    value: dpo({ noise: 0.1 }).loss(batch, []).value,
    gradients: dpo({ noise: 0.1 }).loss(batch, []).gradients,
  })
})

test('a loss of your own is a method; one over scores, and settings that do not fit, are refused', () => {
  const doubled = definePreference({
    name: 'doubled',
    about: 'DPO, twice',
    formula: '-2 log σ(β h)',
    settings: {},
    of: 'sums',
    usesReference: true,
    compute: (pairs) => {
      const { value, chosen, rejected, accuracy } = dpoLoss(pairs)
      const twice = (row: Float32Array): Float32Array => row.map((each) => 2 * each)
      return { value: 2 * value, chosen: twice(chosen), rejected: twice(rejected), accuracy }
    },
    cases: [{}],
  })
  expect(pairMethod(doubled).loss(batch, []).value).toBeCloseTo(2 * dpo().loss(batch, []).value)
  expect(() => pairMethod(preferenceLosses['bradley-terry'])).toThrow(/scores/)
  expect(() => pairMethod(preferenceLosses.dpo, { betta: 1 })).toThrow(/no setting "betta"/)
})
