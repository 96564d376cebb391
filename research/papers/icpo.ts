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

/** With a solved example that differs in the last operation: a reader can copy all its digits but the last, which misleads. */
function withExample(question: ChainQuestion): Question {
  const solution = question.solutions[0]
  const last = solution.length - 1
  const example = solution.map((digit, t) => (t === last ? (digit + 1) % digits : digit))
  return {
    ...question,
    key: `${question.key}!`,
    features: (prefix) => ({ ...question.features!(prefix), [`copy:${example[prefix.length]}`]: 1 }),
  }
}

const parts = {
  icpo: { steered: true, rejects: true, bonus: 0.5 },
  grpo: { steered: false, rejects: false, bonus: 0 },
  'without-rejection': { steered: true, rejects: false, bonus: 0.5 },
  'without-bonus': { steered: true, rejects: true, bonus: 0 },
}

const budget = { steps: 12 }

/** Chains of three operations on five digits. The policy copies from an example more often than it finds a digit itself. */
function trained(name: keyof typeof parts, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { steered, rejects, bonus } = parts[name]
  const { policy, train, test, inContext } = chainTask({
    seed,
    digits,
    trainDepths: [3],
    count: 16,
    known: [1.2, 1, 0.6, 0.2],
    passAt1: 0.15,
    inContext: withExample,
  })
  for (let digit = 0; digit < digits; digit++) raiseWeight(policy, `copy:${digit}`, digit, 1.2)
  const start = exactValues(policy, test).passAt1
  const steering = exactValues(policy, inContext).passAt1 - exactValues(policy, train).passAt1
  const counts = { asked: 0, rejected: 0 }
  const logRatios: number[] = []
  reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    epochs: 2,
    minibatches: 2,
    learningRate,
    seed,
    sample(question, random, step): Answer[] {
      const ask = (of: number): Answer[] => sampleGroup(policy, of, random, { size: groupSize / 2 })
      const own = ask(question)
      if (!steered) return [...own, ...ask(question)]
      // Trained as answers without the example; the ratio compares the probabilities without and with it.
      const experts = ask(inContext[question]).map((answer) => asAnswerTo(policy, answer, question))
      const kept = experts.filter(({ reward }) => !rejects || reward === 1)
      for (const { tokens, logprobs } of experts)
        answerOf(policy, question, tokens).logprobs.forEach((own, t) =>
          logRatios.push(Math.abs(own - logprobs[t])),
        )
      counts.asked += experts.length
      counts.rejected += experts.length - kept.length
      const factor = 1 + bonus * (1 - step / budget.steps)
      return [...own, ...kept.map((answer) => ({ ...answer, reward: answer.reward * factor }))]
    },
  })
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: {
      steering,
      rejected: counts.rejected / Math.max(1, counts.asked),
      logRatio: logRatios.length > 0 ? average(logRatios) : 0,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { icpo: 128, grpo: 256, 'without-rejection': 64, 'without-bonus': 128 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [16, 32, 64, 128, 256, 512], budget })
export { tuning }

export default definePaper({
  id: 'icpo',
  title: 'Think Outside the Policy: In-Context Steered Policy Optimization',
  theme: 'reasoning',
  claim:
    'Answers given with an example in context, those that failed left out, those that succeeded rewarded with a bonus that fades, teach more than GRPO on answers without.',
  arms,
  metric:
    'exact pass@1, without examples, on questions of three steps that were not met, after as many answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'icpo', than: ['grpo'], atLeast: 0.03 },
  checks: [
    { about: 'an example makes right answers likelier', arm: 'icpo', of: 'steering', atLeast: 0.05 },
    { about: 'some answers are rejected, some kept', arm: 'icpo', of: 'rejected', atLeast: 0.1, atMost: 0.9 },
    { about: 'steered answers are off-policy', arm: 'icpo', of: 'logRatio', atLeast: 0.05 },
    { about: 'GRPO has none', arm: 'grpo', of: 'logRatio', atMost: 0 },
    { about: 'no arm is saturated', arm: ['icpo', 'grpo'], of: 'score', atMost: 0.95 },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 1 },
  simplifications: [
    'a softmax that is linear in operation, digit, example and prefix stands for a language model that learns in context',
    'an answer is in the region of the expert where it is right',
    'the loss clips the ratio of steered answers as that of others, where the paper has a shaping function',
  ],
})
