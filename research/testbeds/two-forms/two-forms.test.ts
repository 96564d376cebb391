import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { passRates, sampleGroup } from '../prefix-tree/index.ts'
import {
  accepts,
  digit,
  end,
  mark,
  questions,
  referenceOf,
  solutionsOf,
  twoFormsPolicy,
} from './two-forms.ts'

test('both forms are right, and the rule knows one', () => {
  expect(solutionsOf(6)).toEqual([
    [digit + 1, end],
    [mark, digit + 1, end],
  ])
  expect(solutionsOf(6).map((tokens) => accepts({ question: 6, tokens }))).toEqual([true, false])
  expect(accepts({ question: 6, tokens: [digit + 1, digit + 1, end] })).toBe(false)
  expect(referenceOf(4)).not.toBe(referenceOf(5))
})

test('answers begin at 30%, short, and in both forms', () => {
  const policy = twoFormsPolicy(1)
  expect(average(passRates(policy, questions))).toBeCloseTo(0.3, 2)
  const random = createRandom('answers', 1)
  const answers = questions.flatMap((question) => sampleGroup(policy, question, random, { size: 200 }))
  const right = answers.filter(({ score }) => score === 1)
  expect(right.length / answers.length).toBeCloseTo(0.3, 1)
  expect(right.every((answer) => accepts(answer) || answer.tokens[0] === mark)).toBe(true)
  const plain = right.filter(accepts).length / right.length
  expect(plain).toBeGreaterThan(0.2)
  expect(plain).toBeLessThan(0.8)
  expect(average(answers.map(({ tokens }) => Number(tokens.length === 4)))).toBeLessThan(0.3)
})
