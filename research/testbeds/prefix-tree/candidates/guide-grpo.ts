import { definePaper } from '../../../runner/paper.ts'
import type { ArmRun } from '../../../runner/paper.ts'
import {
  answerOf,
  asAnswerTo,
  chainTask,
  exactValues,
  raiseWeight,
  reinforce,
  sampleGroup,
} from '../index.ts'
import type { Answer, ChainQuestion, LearningRule, Question, Tuning } from '../index.ts'

const digits = 6
const groupSize = 8

const rule: LearningRule = {
  advantage: { name: 'grpo' },
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'sequence-mean' },
}

/** The question with a hint: it names every digit of the solution but the last. */
function withHint(question: ChainQuestion): Question {
  const steps = question.solutions[0]
  return {
    ...question,
    key: `${question.key}?`,
    features: (prefix) => ({
      ...question.features!(prefix),
      ...(prefix.length < steps.length - 1 ? { [`hint:${steps[prefix.length]}`]: 1 } : {}),
    }),
  }
}

const armNames = ['guide', 'grpo', 'hint-always', 'ratio-of-1'] as const
type ArmName = (typeof armNames)[number]

const budget = { steps: 40 }

/** Chains of three operations on six digits. The policy follows a hint more often than it finds the digit itself. */
function trained(name: ArmName, learningRate: number, { seed, budget }: Omit<ArmRun, 'signal'>): number {
  const { policy, train, test, inContext } = chainTask({
    seed,
    digits,
    trainDepths: [3],
    count: 24,
    known: [1.2, 1, 0.6, 0.2],
    passAt1: 0.15,
    inContext: withHint,
  })
  for (let digit = 0; digit < digits; digit++) raiseWeight(policy, `hint:${digit}`, digit, 2)
  reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    learningRate,
    seed,
    sample(question, random): Answer[] {
      const ask = (of: number): Answer[] => sampleGroup(policy, of, random, { size: groupSize / 2 })
      if (name === 'hint-always') return [...ask(inContext[question]), ...ask(inContext[question])]
      const first = ask(question)
      // Half of a group has no hint. The other half gets one if all of the first half failed.
      if (name === 'grpo' || first.some(({ reward }) => reward > 0)) return [...first, ...ask(question)]
      return [
        ...first,
        ...ask(inContext[question]).map((answer) =>
          name === 'guide' ? asAnswerTo(policy, answer, question) : answerOf(policy, question, answer.tokens),
        ),
      ]
    },
  })
  return exactValues(policy, test).passAt1
}

/** Not tuned yet on questions judged by every digit: run `tune-paper.ts` and put in the best of each arm before a result is taken. */
const learningRates: Record<ArmName, number> = { guide: 16, grpo: 16, 'hint-always': 16, 'ratio-of-1': 16 }

export const tuning: Tuning = {
  grid: [4, 8, 16, 32, 64, 128],
  arms: Object.fromEntries(
    armNames.map((name) => [name, ({ seed, learningRate }) => trained(name, learningRate, { seed, budget })]),
  ),
}

export const paper = definePaper({
  id: 'guide-grpo',
  title: 'Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models',
  theme: 'reasoning',
  claim:
    'Hints for questions at which every answer failed, with the ratio between answering without and with the hint, teach more than GRPO and than hints for every question.',
  arms: Object.fromEntries(
    armNames.map((name) => [name, (run: ArmRun) => trained(name, learningRates[name], run)]),
  ) as Record<ArmName, (run: ArmRun) => number>,
  metric:
    'exact pass@1, without hints, on questions of three steps that were not met, after as many answers, each arm at its best learning rate',
  seeds: 100,
  budget,
  quick: { steps: 1 },
  expect: { better: 'guide', than: ['grpo', 'hint-always'] },
  simplifications: [
    'a softmax that is linear in operation, digit, hint and prefix, started at pass@1 of 15%, stands for language models',
    'hinted answers take the place of half of the group, so that all arms sample as much',
  ],
})
