import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  answerOf,
  asAnswerTo,
  chainTask,
  exactValues,
  raiseWeight,
  reinforce,
  sampleGroup,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type {
  Answer,
  ChainQuestion,
  LearningRule,
  Question,
  TunedRun,
} from '../testbeds/prefix-tree/index.ts'

const digits = 5
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

const budget = { steps: 12 }

type ArmName = 'guide' | 'grpo' | 'hint-always' | 'ratio-of-1'

/** Chains of three operations on five digits. The policy follows a hint more often than it finds the digit itself. */
function trained(name: ArmName, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { policy, train, test, inContext } = chainTask({
    seed,
    digits,
    trainDepths: [3],
    count: 16,
    known: [1.2, 1, 0.6, 0.2],
    passAt1: 0.05,
    inContext: withHint,
  })
  // In some seeds a digit is in no hint.
  for (let digit = 0; digit < digits; digit++)
    if (policy.tree.features.has(`hint:${digit}`)) raiseWeight(policy, `hint:${digit}`, digit, 2)
  const start = exactValues(policy, test).passAt1
  const hinting = exactValues(policy, inContext).passAt1 - exactValues(policy, train).passAt1
  const counts = { hinted: 0, groups: 0 }
  const logRatios: number[] = []
  const { measures } = reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    epochs: 2,
    minibatches: 2,
    learningRate,
    seed,
    sample(question, random): Answer[] {
      const ask = (of: number): Answer[] => sampleGroup(policy, of, random, { size: groupSize / 2 })
      counts.groups++
      if (name === 'hint-always') return [...ask(inContext[question]), ...ask(inContext[question])]
      const first = ask(question)
      // Half of a group has no hint. The other half gets one if all of the first half failed.
      if (name === 'grpo' || first.some(({ reward }) => reward > 0)) return [...first, ...ask(question)]
      counts.hinted++
      const second = ask(inContext[question]).map((answer) => {
        const without = answerOf(policy, question, answer.tokens)
        const used = name === 'guide' ? asAnswerTo(policy, answer, question) : without
        used.logprobs.forEach((logprob, t) => logRatios.push(Math.abs(without.logprobs[t] - logprob)))
        return used
      })
      return [...first, ...second]
    },
  })
  const { zeroVariance } = measures
  const logRatio = logRatios.length > 0 ? average(logRatios) : 0
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: { hinted: counts.hinted / counts.groups, hinting, logRatio, zeroVariance },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { guide: 256, grpo: 128, 'hint-always': 256, 'ratio-of-1': 128 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [16, 32, 64, 128, 256, 512], budget })
export { tuning }

export default definePaper({
  id: 'guide-grpo',
  title: 'Adaptive Guidance Accelerates Reinforcement Learning of Reasoning Models',
  theme: 'reasoning',
  claim:
    'Hints for questions at which every answer failed, with the ratio between answering without and with the hint, teach more than GRPO and than hints for every question.',
  arms,
  metric:
    'exact pass@1, without hints, on questions of three steps that were not met, after as many answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'guide', than: ['grpo', 'hint-always'], atLeast: 0.03 },
  checks: [
    {
      about: 'hints are given, and not for every question',
      arm: 'guide',
      of: 'hinted',
      atLeast: 0.1,
      atMost: 0.9,
    },
    { about: 'a hint makes right answers likelier', arm: 'guide', of: 'hinting', atLeast: 0.15 },
    {
      about: 'the ratio is not 1 where hinted answers are trained',
      arm: 'guide',
      of: 'logRatio',
      atLeast: 0.15,
    },
    { about: 'without the ratio it is 1', arm: 'ratio-of-1', of: 'logRatio', atMost: 0.001 },
    { about: 'GRPO has groups without a right answer', arm: 'grpo', of: 'zeroVariance', atLeast: 0.15 },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 1 },
  simplifications: [
    'a softmax that is linear in operation, digit, hint and prefix, started at pass@1 of 5%, stands for language models',
    'a first plan stopped at an error, at a seed where a digit is in no hint: this is a second plan with other seeds',
    'hinted answers take the place of half of the group, so that all arms sample as much',
  ],
})
