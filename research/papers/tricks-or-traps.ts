import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  copyPolicy,
  passRates,
  presetRule,
  reinforce,
  repeated,
  tunedArms,
  variableLengthTask,
} from '../testbeds/prefix-tree/index.ts'
import type { LearningRule, TunedRun } from '../testbeds/prefix-tree/index.ts'

const grpo: LearningRule = {
  advantage: { name: 'grpo' },
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'sequence-mean' },
}
const batchDeviation = { name: 'batch-grpo' } as const
const tokenMean = { mode: 'token-mean' } as const
// Clip-higher, token mean, zero-variance groups replaced, long answers punished, cut-off ones masked.
const dapo = presetRule('dapo')

const rules = {
  'lite-ppo': { rule: { ...grpo, advantage: batchDeviation, aggregation: tokenMean } },
  grpo: { rule: grpo },
  dapo,
  'dapo-without-resampling': { rule: dapo.rule },
  'batch-deviation-only': { rule: { ...grpo, advantage: batchDeviation } },
  'token-mean-only': { rule: { ...grpo, aggregation: tokenMean } },
}

const budget = { answers: 1536 }

/** Questions of one to four tokens, half of the groups with no right answer at the start, answers of up to six tokens. */
function trained(name: keyof typeof rules, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const task = variableLengthTask({
    seed,
    count: 12,
    most: 4,
    vocabulary: 4,
    maxLength: 6,
    passAt1: 0.2,
    filler: 1,
  })
  const { train } = task
  const start = average(passRates(task.policy, train))
  return repeated(8, (repeat) => {
    const policy = copyPolicy(task.policy)
    const { measures, answers } = reinforce(policy, {
      ...rules[name],
      questions: train,
      steps: budget.answers,
      answers: budget.answers,
      epochs: 2,
      minibatches: 2,
      learningRate,
      seed: seed + 1e6 * repeat,
    })
    const { zeroVariance, truncated, clipFraction, lengthVariance } = measures
    return {
      score: average(passRates(policy, train)),
      start,
      measures: { zeroVariance, truncated, clipFraction, lengthVariance, answers },
    }
  })
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = {
  'lite-ppo': 11,
  grpo: 16,
  dapo: 8,
  'dapo-without-resampling': 4,
  'batch-deviation-only': 11,
  'token-mean-only': 16,
}

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [2, 4, 8, 11, 16, 23, 32], budget })
export { tuning }

export default definePaper({
  id: 'tricks-or-traps',
  title: 'Part I: Tricks or Traps? A Deep Dive into RL for LLM Reasoning',
  theme: 'reasoning',
  claim:
    'Two tricks on the plain loss of PPO, the deviation of the whole batch and a mean over tokens, learn more than GRPO and than DAPO.',
  arms,
  metric:
    'exact pass@1 on the trained questions after as many sampled answers, mean over eight trainings of a task, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'lite-ppo', than: ['grpo', 'dapo'], atLeast: 0.02 },
  checks: [
    {
      about: 'all start at a fifth',
      arm: ['lite-ppo', 'grpo', 'dapo'],
      of: 'start',
      atLeast: 0.19,
      atMost: 0.21,
    },
    {
      about: 'groups differ in deviation: some have none, most have one',
      arm: ['lite-ppo', 'grpo'],
      of: 'zeroVariance',
      atLeast: 0.1,
      atMost: 0.7,
    },
    {
      about: 'lengths differ, so that aggregation matters',
      arm: ['lite-ppo', 'grpo'],
      of: 'lengthVariance',
      atLeast: 0.5,
    },
    { about: 'answers are cut off, so that masking matters', arm: 'dapo', of: 'truncated', atLeast: 0.05 },
    { about: 'no arm is saturated', arm: ['lite-ppo', 'grpo', 'dapo'], of: 'score', atMost: 0.95 },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { answers: 64 },
  simplifications: [
    'a softmax over prefixes of at most six of four tokens, started at pass@1 of 20%, stands for language models on mathematics',
    'the questions that are measured are those of training',
    'answers that DAPO samples in place of zero-variance groups count towards the budget',
  ],
})
