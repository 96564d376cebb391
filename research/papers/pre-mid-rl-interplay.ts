import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import {
  chainTask,
  demonstrations,
  exactValues,
  fineTune,
  presetRule,
  reinforce,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { TunedRun } from '../testbeds/prefix-tree/index.ts'

/** Questions of pre-training, at the edge of it, and beyond it, by their numbers of operations. */
const known = [1, 2]
const edge = [3, 4]
const beyond = [6]
const samples = 16
const budget = { steps: 4 }

const parts = {
  edge: { depths: edge, supervised: 0 },
  known: { depths: known, supervised: 0 },
  beyond: { depths: beyond, supervised: 0 },
  mixed: { depths: [...known, ...edge, ...beyond], supervised: 0 },
  'edge-with-mid-training': { depths: edge, supervised: 0.5 },
}

/** Chains whose later steps share less with earlier ones, so that practice at one depth helps others in part only. */
function trained(name: keyof typeof parts, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { depths, supervised } = parts[name]
  const task = chainTask({
    seed,
    digits: 3,
    trainDepths: [...known, ...edge, ...beyond],
    testDepths: [...edge, 5],
    count: 30,
    known: [1.5, 1, 0.3],
    competenceOf: 'test',
    passAt1: 0.02,
    byStep: 0.7,
  })
  const { policy, test } = task
  const train = task.train.filter((q) => depths.includes(policy.tree.questions[q].maxLength))
  const tested = exactValues(policy, test)
  const ofTraining = exactValues(policy, train).passByQuestion
  const between = Math.floor(budget.steps * supervised)
  if (between > 0 && learningRate > 0)
    fineTune(policy, demonstrations({ ...task, train }, { count: train.length, seed }), {
      steps: between,
      learningRate: 2,
    })
  const { measures } = reinforce(policy, {
    rule: presetRule('grpo').rule,
    questions: train,
    steps: budget.steps - between,
    learningRate,
    seed,
  })
  const after = exactValues(policy, test)
  return {
    score: after.passAt(samples),
    start: tested.passAt(samples),
    measures: {
      zeroVariance: measures.zeroVariance,
      startOfTraining: average(ofTraining),
      passAt1: after.passAt1,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { edge: 128, known: 64, beyond: 256, mixed: 64, 'edge-with-mid-training': 64 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [8, 16, 32, 64, 128, 256, 512], budget })
export { tuning }

export default definePaper({
  id: 'pre-mid-rl-interplay',
  title: 'On the Interplay of Pre-Training, Mid-Training, and RL on Reasoning Language Models',
  theme: 'reasoning',
  claim:
    'RL adds to what any of many answers solves where its questions lie at the edge of what pre-training taught, not where they are known already or far beyond.',
  arms,
  metric:
    'exact pass@16 on questions of three to five steps that were not met, after as many answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'edge', than: ['known', 'beyond'], atLeast: 0.02 },
  checks: [
    { about: 'what is known is solved at times', arm: 'known', of: 'startOfTraining', atLeast: 0.2 },
    { about: 'what is beyond is hardly ever solved', arm: 'beyond', of: 'startOfTraining', atMost: 0.03 },
    { about: 'groups beyond hardly differ', arm: 'beyond', of: 'zeroVariance', atLeast: 0.3 },
    { about: 'no arm is saturated', arm: ['edge', 'known', 'beyond'], of: 'score', atMost: 0.97 },
  ],
  control: { positive: { better: 'edge', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'a softmax that is linear in operation, digit, step and prefix, started at pass@1 of 2%, stands for a language model after pre-training',
    'pass@16 stands for pass@128',
  ],
})
