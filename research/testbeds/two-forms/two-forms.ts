import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import {
  addNoise,
  createPrefixPolicy,
  createPrefixTree,
  ownFeature,
  solutionWeights,
  startAt,
} from '../prefix-tree/index.ts'
import type { Answer, PrefixPolicy } from '../prefix-tree/index.ts'

/** Tokens: the end, a mark that may stand before an answer, and the first of the digits. Also the number of digits. */
export const [end, mark, digit, digits] = [0, 1, 2, 5]
/** Indices of the questions. */
export const questions = each(10)

/** The digit that answers a question. */
export const referenceOf = (question: number): number => digit + (question % digits)

/** The right answers: the reference without the mark, and with it. */
export const solutionsOf = (question: number): number[][] => [
  [referenceOf(question), end],
  [mark, referenceOf(question), end],
]

/** A rule that takes no wrong answer for right, but knows only the form without the mark. */
export const accepts = ({ question, tokens }: Pick<Answer, 'question' | 'tokens'>): boolean =>
  tokens.join() === solutionsOf(question)[0].join()

/** A policy whose answers have up to four tokens, mostly two or three, and of which 30% are right. */
export function twoFormsPolicy(seed: number): PrefixPolicy {
  const tree = createPrefixTree(
    questions.map((question) => {
      const [key, solutions] = [`question${question}`, solutionsOf(question)]
      return {
        key,
        maxLength: 4,
        solutions,
        ends: (tokens) => tokens.at(-1) === end,
        reward: (tokens) => Number(solutions.some((right) => right.join() === tokens.join())),
        features: (prefix) => ({ [ownFeature({ key }, prefix)]: 1, [`length${prefix.length}`]: 1 }),
      }
    }),
    digit + digits,
  )
  const policy = createPrefixPolicy(tree)
  addNoise(policy, createRandom(seed, 'start'), 0.3)
  const raise = (length: number, token: number, by: number): void => {
    policy.weights[tree.features.get(`length${length}`)! * tree.vocabulary + token] += by
  }
  // Few answers are empty, and few are long.
  for (const [length, by] of [-4, 1, 3, 3].entries()) raise(length, end, by)
  raise(0, mark, 1)
  const direction = solutionWeights(tree, (name) => !name.startsWith('length'))
  startAt(policy, direction, { passAt1: 0.3, questions })
  return policy
}
