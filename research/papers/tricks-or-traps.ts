import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  copyPolicy,
  passRates,
  presetRule,
  reinforce,
  repeated,
  solutionWeights,
  startAt,
  tunedArms,
  variableLengthTask,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, TunedRun } from '../testbeds/prefix-tree/index.ts'

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
  // Cut-off answers are punished and not masked.
  'dapo-unmasked': { ...dapo, rule: { ...dapo.rule, shaping: { softOverlong: {} } } },
  'token-mean-only': { rule: { ...grpo, aggregation: tokenMean } },
  // The simplest of all: no deviation, mean over tokens.
  'no-deviation': {
    rule: { ...grpo, advantage: { name: 'grpo', std: false } as const, aggregation: tokenMean },
  },
}

const budget = { answers: 1536 }
const difficulties = [0.1, 0.3, 0.5]

/** Of rewards of 0 and 1. */
function deviation(group: readonly Answer[]): number {
  const mean = average(group.map(({ reward }) => reward))
  return Math.sqrt(mean * (1 - mean))
}

/** How far the deviations of groups are from that of their batch: the mean of the absolute log-ratio. */
function scaling(groups: readonly (readonly Answer[])[]): number {
  const apart = groups.map(deviation).filter((own) => own > 0)
  const whole = deviation(groups.flat())
  return apart.length === 0 ? 0 : average(apart.map((own) => Math.abs(Math.log(own / whole))))
}

/** Mean of three difficulties, with several trainings of each. Questions have one to three tokens, answers up to six. */
function trained(name: keyof typeof rules, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const passAt1 = difficulties[0]
  const { policy: first, train } = variableLengthTask({
    seed,
    count: 12,
    vocabulary: 4,
    maxLength: 6,
    passAt1,
  })
  const known = solutionWeights(first.tree, (feature) => feature !== 'style')
  return repeated(difficulties.length, (level) => {
    const begun = copyPolicy(first)
    startAt(begun, known, { passAt1: difficulties[level], questions: train })
    const start = average(passRates(begun, train))
    return repeated(3, (repeat) => {
      const policy = copyPolicy(begun)
      const apart: number[] = []
      const { measures, answers } = reinforce(policy, {
        ...rules[name],
        questions: train,
        steps: budget.answers,
        answers: budget.answers,
        epochs: 2,
        minibatches: 2,
        learningRate,
        seed: seed + 1e6 * (3 * level + repeat),
        onStep: (_, __, groups) => void apart.push(scaling(groups)),
      })
      const { zeroVariance, truncated, clipFraction, lengthVariance } = measures
      return {
        score: average(passRates(policy, train)),
        start,
        measures: { zeroVariance, truncated, clipFraction, lengthVariance, answers, scaling: average(apart) },
      }
    })
  })
}

/** By `tune-paper.ts` with 10 seeds, the best of the grid for each arm. */
const learningRates = {
  'lite-ppo': 10,
  grpo: 10,
  dapo: 6,
  'dapo-unmasked': 6,
  'token-mean-only': 10,
  'no-deviation': 25,
}

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [3, 6, 10, 16, 25, 40], budget })
export { tuning }

export default definePaper({
  id: 'tricks-or-traps',
  title: 'Part I: Tricks or Traps? A Deep Dive into RL for LLM Reasoning',
  theme: 'reasoning',
  claim:
    'Two tricks on the plain loss of PPO, the deviation of the whole batch and a mean over tokens, learn more than GRPO and than DAPO, whether that masks cut-off answers or punishes them.',
  // One step without learning gives the measures.
  arms: { ...arms, untrained: ({ seed }) => trained('grpo', 0, { seed, budget: { answers: 1 } }) },
  metric:
    'exact pass@1 on the trained questions after as many sampled answers, mean of three difficulties with three trainings each, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'lite-ppo', than: ['grpo', 'dapo', 'dapo-unmasked'], atLeast: 0.02 },
  checks: [
    {
      about: 'all start at three tenths',
      arm: ['lite-ppo', 'grpo', 'dapo', 'dapo-unmasked'],
      of: 'start',
      atLeast: 0.29,
      atMost: 0.31,
    },
    {
      about: 'deviations of groups are apart from those of batches',
      arm: ['lite-ppo', 'grpo'],
      of: 'scaling',
      atLeast: 0.1,
    },
    {
      about: 'some groups have no deviation, most have one',
      arm: ['lite-ppo', 'grpo', 'dapo', 'dapo-unmasked'],
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
    {
      about: 'clips act',
      arm: ['lite-ppo', 'grpo', 'dapo', 'dapo-unmasked'],
      of: 'clipFraction',
      atLeast: 0.02,
    },
    {
      about: 'no arm is saturated',
      arm: ['lite-ppo', 'grpo', 'dapo', 'dapo-unmasked'],
      of: 'score',
      atMost: 0.95,
    },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { answers: 64 },
  simplifications: [
    'a softmax over prefixes of at most six of four tokens, started at pass@1 of 10, 30 and 50%, stands for language models on mathematics of three difficulties',
    'the questions that are measured are those of training',
    'answers that DAPO samples in place of zero-variance groups count towards the budget',
    'learning rates are the best of six on seeds 101 to 110, tuned with other questions for each difficulty',
  ],
})
