import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { chainTask } from './chains.ts'
import type { ChainQuestion, ChainSettings, ChainTask } from './chains.ts'
import { raiseWeight } from './competence.ts'
import { passRates } from './exact.ts'
import { answerOf, asAnswerTo, sampleGroup } from './policy.ts'
import type { Answer } from './policy.ts'
import type { Question } from './tree.ts'

/** A chain task in which each question to train on has a version that shows digits, such as a hint or a solved example. */
export interface InContextTask extends ChainTask {
  /** Mean pass@1 of the versions in context at the start, less that of the questions themselves. */
  gain: number
}

/**
 * Chains whose questions to train on have a version in context. It shows digits, and the policy tends to write what is
 * shown. Default: five digits, three operations, four kinds of them, from well known to hardly known.
 *
 * @param settings.shows the digit that is shown at each place of the answer; where it is undefined, none is.
 * @param settings.follows starting weight of writing the digit that is shown. 0 = what is shown is ignored.
 */
export function inContextTask({
  shows,
  follows,
  ...settings
}: Partial<Omit<ChainSettings, 'inContext'>> & {
  seed: number
  shows: (solution: readonly number[], digits: number) => readonly (number | undefined)[]
  follows: number
}): InContextTask {
  const { digits = 5 } = settings
  const task = chainTask({
    trainDepths: [3],
    known: [1.2, 1, 0.6, 0.2],
    ...settings,
    digits,
    inContext(question: ChainQuestion): Question {
      const shown = shows(question.solutions[0], digits)
      return {
        ...question,
        key: `${question.key} in context`,
        features(prefix) {
          const digit = shown[prefix.length]
          return { ...question.features!(prefix), ...(digit === undefined ? {} : { [`shown:${digit}`]: 1 }) }
        },
      }
    },
  })
  const { policy, train, inContext } = task
  // A digit may be shown nowhere.
  for (let digit = 0; digit < digits; digit++)
    if (policy.tree.features.has(`shown:${digit}`)) raiseWeight(policy, `shown:${digit}`, digit, follows)
  return { ...task, gain: average(passRates(policy, inContext)) - average(passRates(policy, train)) }
}

/** An answer that was sampled in context, as an answer to the question without. */
export interface InContextAnswer {
  /** With the log-probabilities that it had in context, so that the ratio compares both. */
  answer: Answer
  /** The same with the log-probabilities that it has without, so that the ratio begins at 1. */
  onPolicy: Answer
  /** Mean distance of both over the tokens, in nats. 0 where the context changes nothing. */
  distance: number
}

/** Samples answers to the version in context of a question to train on. */
export function sampleInContext(
  { policy, inContext }: InContextTask,
  question: number,
  random: Random,
  size: number,
): InContextAnswer[] {
  return sampleGroup(policy, inContext[question], random, { size }).map((sampled) => {
    const answer = asAnswerTo(policy, sampled, question)
    const onPolicy = answerOf(policy, question, sampled.tokens)
    const distance = average(answer.logprobs.map((logprob, t) => Math.abs(logprob - onPolicy.logprobs[t])))
    return { answer, onPolicy, distance }
  })
}
