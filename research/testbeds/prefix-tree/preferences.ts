import { dpoLoss } from 'agoge/losses'
import { lossGradient } from './gradient.ts'
import type { Example } from './gradient.ts'
import { answerOf } from './policy.ts'
import type { Answer, PrefixPolicy } from './policy.ts'
import { descend, plainRule } from './reinforce.ts'

/** A preference between two answers to a question. */
export interface Pair {
  chosen: Answer
  rejected: Answer
}

/** Weights of the tokens: less for those beyond the length that both answers have (LD-DPO). */
export function tokenWeights({ chosen, rejected }: Pair, { tokens }: Answer, lengthWeight: number): number[] {
  const shared = Math.min(chosen.tokens.length, rejected.tokens.length)
  return tokens.map((_, t) => (t < shared ? 1 : lengthWeight))
}

const current = (policy: PrefixPolicy, { question, tokens }: Answer): Answer =>
  answerOf(policy, question, tokens)

/** Settings of `prefer`. */
export interface PreferSettings {
  /** What a token beyond the shared length weighs: 1 is DPO, less is LD-DPO. */
  lengthWeight: number
  /** How strongly the policy stays at its start. */
  beta: number
  learningRate: number
  steps: number
}

/** DPO over all pairs in each step, through the library's loss (arXiv 2305.18290; length weights: LD-DPO, 2409.06411). */
export function prefer(
  policy: PrefixPolicy,
  pairs: readonly Pair[],
  { lengthWeight, beta, learningRate, steps }: PreferSettings,
): void {
  const answers = pairs.flatMap((pair) =>
    [pair.chosen, pair.rejected].map((answer) => ({
      answer,
      weights: tokenWeights(pair, answer, lengthWeight),
    })),
  )
  const sums = (): number[] =>
    answers.map(({ answer, weights }) =>
      current(policy, answer).logprobs.reduce((sum, logprob, t) => sum + weights[t] * logprob, 0),
    )
  const half = (all: readonly number[], second: 0 | 1): number[] => all.filter((_, i) => i % 2 === second)
  const reference = sums()
  const [referenceChosen, referenceRejected] = [half(reference, 0), half(reference, 1)]
  for (let step = 0; step < steps; step++) {
    const now = sums()
    const loss = dpoLoss(
      { chosen: half(now, 0), rejected: half(now, 1), referenceChosen, referenceRejected },
      { beta },
    )
    // At a ratio of 1, the gradient of a token is -advantage / answers.
    const examples = answers.map(({ answer, weights }, i): Example => {
      const slope = (i % 2 === 0 ? loss.chosen : loss.rejected)[i >> 1]
      return {
        answer: current(policy, answer),
        advantage: weights.map((weight) => -slope * weight * answers.length),
      }
    })
    descend(policy, lossGradient(policy, examples, plainRule).gradient, { learningRate })
  }
}
