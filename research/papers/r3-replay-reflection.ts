import { grpoAdvantages } from 'agoge/losses'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  chainTask,
  passRates,
  presetRule,
  reinforce,
  sampleAnswer,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

const size = 8
/** The judge of training errs at this share of the answers. */
const errs = 0.03
const budget = { steps: 30 }

interface Parts {
  replay?: boolean
  reflection?: boolean
  ranking?: boolean
  resampling?: number
}

const parts = {
  r3: { replay: true, reflection: true, ranking: true },
  'group-relative': {},
  resampled: { resampling: 3 },
  'without-replay': { reflection: true, ranking: true },
} satisfies Record<string, Parts>

const failed = (group: readonly Answer[]): boolean => group.every(({ reward }) => reward === 0)
const surprise = ({ logprobs }: Answer): number => -average(logprobs)

/** Among answers that all failed, gives confident ones a slightly higher reward. */
function rankedRewards(group: readonly Answer[]): number[] {
  const order = group.map(surprise).toSorted((a, b) => a - b)
  return group.map((answer) => 0.1 * (1 - order.indexOf(surprise(answer)) / group.length))
}

const ruleOf = (ranking: boolean): LearningRule => ({
  ...presetRule('grpo-damped').rule,
  advantage: (groups) =>
    groups.map((group) =>
      Array.from(
        grpoAdvantages(ranking && failed(group) ? rankedRewards(group) : group.map(({ reward }) => reward), {
          std: false,
        }),
      ),
    ),
})

/** An answer to a question whose failed answers the policy has read: none of these, unless eight attempts give no other. */
function secondAnswer(
  policy: PrefixPolicy,
  question: number,
  random: Random,
  read: ReadonlySet<string>,
): Answer {
  for (let attempt = 1; ; attempt++) {
    const answer = sampleAnswer(policy, question, random)
    if (attempt === 8 || !read.has(answer.tokens.join())) return answer
  }
}

/** Trains and returns exact pass@1 on questions that were not met, as a mean over the steps up to the last answer. */
function trained(name: keyof typeof parts, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { replay = false, reflection = false, ranking = false, resampling = 0 }: Parts = parts[name]
  const { policy, train, test } = chainTask({ seed, trainDepths: [4], passAt1: 0.01 })
  const start = average(passRates(policy, test))
  const passed: number[] = []
  const remembered = new Map<string, Answer>()
  const seen = { groups: 0, replayed: 0, successes: 0, reflected: 0 }
  const { measures } = reinforce(policy, {
    rule: ruleOf(ranking),
    questions: train,
    steps: budget.steps,
    learningRate,
    seed,
    groupSize: size,
    resampling,
    // Answers to replaced groups count too.
    answers: budget.steps * 8 * size,
    onStep: () => void passed.push(average(passRates(policy, test))),
    sample(question, random) {
      const group: Answer[] = Array.from({ length: size / 2 }, () => sampleAnswer(policy, question, random))
      const again = reflection && failed(group)
      const read = new Set(again ? group.map(({ tokens }) => tokens.join()) : [])
      while (group.length < size) group.push(secondAnswer(policy, question, random, read))
      for (const answer of group) if (random.next() < errs) answer.reward = 1 - answer.reward
      // A group of equal rewards gets the last answer to the question with another reward in place of its first answer. It keeps
      // its old probability, so the ratio measures how far the policy has moved.
      const rewards = new Set(group.map(({ reward }) => reward))
      const other = remembered.get(`${question}:${1 - group[0].reward}`)
      const replays = replay && rewards.size === 1 && other !== undefined
      for (const answer of group) remembered.set(`${question}:${answer.reward}`, answer)
      if (replays) group[0] = other
      seen.groups++
      seen.reflected += Number(again)
      seen.replayed += Number(replays)
      seen.successes += Number(replays && other.reward === 1)
      return group
    },
  })
  const { groups, ...counts } = seen
  const shares = Object.fromEntries(Object.entries(counts).map(([of, count]) => [of, count / groups]))
  return {
    score: average(passed),
    start,
    measures: { zeroVariance: measures.zeroVariance, ...shares },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { r3: 128, 'group-relative': 256, resampled: 128, 'without-replay': 256 }
const { arms, tuning } = tunedArms(learningRates, trained, {
  grid: [32, 64, 128, 256, 512, 1024],
  budget,
})
export { tuning }

export default definePaper({
  id: 'r3-replay-reflection',
  title: 'R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning',
  theme: 'reasoning',
  claim:
    'On hard questions, replayed answers where all rewards are equal, second answers to failed questions and a ranking of failures by entropy together learn more than group-relative reinforcement alone, or with zero-variance groups replaced.',
  arms,
  metric:
    'exact pass@1 on questions of four steps that were not met, mean over training, after the same number of sampled answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'r3', than: ['group-relative', 'resampled'], atLeast: 0.05 },
  checks: [
    { about: 'groups without a success are common', arm: 'group-relative', of: 'zeroVariance', atLeast: 0.2 },
    { about: 'successes are replayed', arm: 'r3', of: 'successes', atLeast: 0.02 },
    { about: 'questions are answered again', arm: 'r3', of: 'reflected', atLeast: 0.1 },
    { about: 'questions are hard at the start', arm: ['r3', 'group-relative'], of: 'start', atMost: 0.05 },
  ],
  control: { positive: { better: 'group-relative', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'the judge of training errs at 3 of 100 answers: with one that never errs, a success nearly solves its question for good at the best learning rates, and none is left to replay',
    'an answer is replayed where all of a group have the other reward: successes of questions that fail now, and failures of those that are solved',
    'chains of operations on four digits and a policy linear in features stand for a language model; plain gradient descent',
    'a second answer is one that differs from the failed ones: reflection that learns why an answer failed is not part of this experiment',
    'mean surprise of an answer stands for the structure of its entropy; advantages are not divided by the deviation',
  ],
})
