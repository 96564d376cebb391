import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  exactValues,
  mixedDifficultyTask,
  reinforce,
  sampleGroup,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { LearningRule, TunedRun } from '../testbeds/prefix-tree/index.ts'

const batch = 8
const groupSize = 8

const rule: LearningRule = {
  advantage: { name: 'grpo' },
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'sequence-mean' },
}

const parts = {
  e3: { rollouts: true, temperature: true },
  grpo: { rollouts: false, temperature: false },
  'rollouts-only': { rollouts: true, temperature: false },
  'temperature-only': { rollouts: false, temperature: true },
}

/** Group sizes in proportion to the recent failure rate of each question, at least 2 each; `total` in all. */
function allocate(failures: readonly number[], total: number): number[] {
  const free = total - 2 * failures.length
  const sum = failures.reduce((all, share) => all + share, 0)
  let given = 0
  let owed = 0
  return failures.map((share) => {
    owed += (free * share) / sum
    const more = Math.round(owed) - given
    given += more
    return 2 + more
  })
}

const budget = { steps: 5 }

/** Chains of one to three operations, of which the policy knows some well and some hardly. */
function trained(name: keyof typeof parts, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { rollouts, temperature: adapts } = parts[name]
  const task = { seed, trainDepths: [1, 2, 3], count: 24, passAt1: 0.2 }
  const { policy, train, test } = mixedDifficultyTask(task)
  const start = exactValues(policy, test).passAt1
  const failed = train.map(() => 0.5)
  let sizes = new Map<number, number>()
  let temperature = 1
  let target: number | undefined
  let hottest = 1
  let spread = 0
  const { measures } = reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    epochs: 2,
    minibatches: 2,
    learningRate,
    seed,
    draw(random) {
      const drawn = random.shuffle(train).slice(0, batch)
      const failures = drawn.map((question) => Math.max(0.05, failed[question]))
      const given = rollouts ? allocate(failures, batch * groupSize) : drawn.map(() => groupSize)
      spread += (Math.max(...given) - Math.min(...given)) / budget.steps
      sizes = new Map(drawn.map((question, i) => [question, given[i]]))
      return drawn
    },
    sample(question, random) {
      const group = sampleGroup(policy, question, random, { size: sizes.get(question)!, temperature })
      failed[question] = 0.5 * failed[question] + 0.5 * (1 - average(group.map(({ reward }) => reward)))
      return group
    },
    onStep(_, { entropy }) {
      target ??= entropy
      if (adapts) temperature = Math.min(1.5, Math.max(0.7, temperature + 0.2 * (target - entropy)))
      hottest = Math.max(hottest, temperature)
    },
  })
  const { entropy, zeroVariance } = measures
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: { spread, hottest, entropy, zeroVariance },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { e3: 256, grpo: 128, 'rollouts-only': 256, 'temperature-only': 256 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [16, 32, 64, 128, 256, 512], budget })
export { tuning }

export default definePaper({
  id: 'e3-rl4llms',
  title: 'Enhancing Efficiency and Exploration in Reinforcement Learning for LLMs',
  theme: 'reasoning',
  claim:
    'More answers to hard questions and fewer to easy ones, at a temperature that holds entropy where it was, learn more than GRPO with as many answers in all.',
  arms,
  metric:
    'exact pass@1 on questions of one to three steps that were not met, after as many answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'e3', than: ['grpo'], atLeast: 0.02 },
  checks: [
    { about: 'group sizes differ within a step', arm: ['e3', 'rollouts-only'], of: 'spread', atLeast: 3 },
    { about: 'groups of GRPO are equal', arm: 'grpo', of: 'spread', atMost: 0 },
    { about: 'the temperature rises against the loss of entropy', arm: 'e3', of: 'hottest', atLeast: 1.05 },
    { about: 'zero-variance groups are there to save on', arm: 'grpo', of: 'zeroVariance', atLeast: 0.1 },
    { about: 'no arm is saturated', arm: ['e3', 'grpo'], of: 'score', atMost: 0.97 },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 1 },
  simplifications: [
    'a softmax that is linear in operation, digit and prefix, started at pass@1 of 20%, stands for language models on mathematics',
  ],
})
