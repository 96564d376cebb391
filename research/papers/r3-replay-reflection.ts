import { grpoAdvantages } from 'agoge/losses'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { chainTask, passRates, presetRule, reinforce, sampleAnswer } from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, PrefixPolicy } from '../testbeds/prefix-tree/index.ts'

const size = 8

/** Which parts an arm has. Learning rates are the best of the same grid on seeds above 100. */
interface Settings {
  learningRate: number
  replay?: boolean
  reflection?: boolean
  ranking?: boolean
  resampling?: number
}

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

/** Trains and returns exact pass@1 on questions that were not met. */
export function trained({ seed, steps }: { seed: number; steps: number }, settings: Settings): ArmResult {
  const { learningRate, replay = false, reflection = false, ranking = false, resampling = 0 } = settings
  const { policy, train, test } = chainTask({ seed, trainDepths: [4], passAt1: 0.01 })
  const start = average(passRates(policy, test))
  const passed: number[] = []
  const remembered = new Map<number, Answer>()
  const seen = { groups: 0, replayed: 0, reflected: 0 }
  const { measures } = reinforce(policy, {
    rule: ruleOf(ranking),
    questions: train,
    steps,
    learningRate,
    seed,
    groupSize: size,
    resampling,
    // Answers to replaced groups count too.
    answers: steps * 8 * size,
    onStep: () => void passed.push(average(passRates(policy, test))),
    sample(question, random) {
      const group: Answer[] = Array.from({ length: size / 2 }, () => sampleAnswer(policy, question, random))
      const again = reflection && failed(group)
      const read = new Set(again ? group.map(({ tokens }) => tokens.join()) : [])
      while (group.length < size) group.push(secondAnswer(policy, question, random, read))
      const right = group.find(({ reward }) => reward === 1)
      const known = remembered.get(question)
      const replays = replay && right === undefined && known !== undefined
      if (right !== undefined) remembered.set(question, right)
      // A replayed answer keeps its old probability, so the ratio measures how far the policy has moved.
      if (replays) group[0] = known
      seen.groups++
      seen.reflected += Number(again)
      seen.replayed += Number(replays)
      return group
    },
  })
  const share = (count: number): number => (seen.groups === 0 ? 0 : count / seen.groups)
  return {
    score: passed.length === 0 ? start : average(passed),
    start,
    measures: {
      zeroVariance: measures.zeroVariance,
      replayed: share(seen.replayed),
      reflected: share(seen.reflected),
    },
  }
}

const arm =
  (settings: Settings) =>
  ({ seed, budget }: ArmRun): ArmResult =>
    trained({ seed, steps: budget.steps }, settings)

export default definePaper({
  id: 'r3-replay-reflection',
  title: 'R^3: Replay, Reflection, and Ranking Rewards for LLM Reinforcement Learning',
  theme: 'reasoning',
  claim:
    'On hard questions, replayed successes, second answers to failed questions and a ranking of failures by entropy together learn more than group-relative reinforcement alone, or with zero-variance groups replaced.',
  arms: {
    r3: arm({ learningRate: 500, replay: true, reflection: true, ranking: true }),
    'group-relative': arm({ learningRate: 500 }),
    resampled: arm({ learningRate: 500, resampling: 3 }),
    'without-ranking': arm({ learningRate: 500, replay: true, reflection: true }),
    untrained: arm({ learningRate: 0 }),
  },
  metric:
    'exact pass@1 on questions of four steps that were not met, after the same number of sampled answers',
  pairing: 'seed',
  effect: { better: 'r3', than: ['group-relative', 'resampled'], atLeast: 0.05 },
  checks: [
    { about: 'groups without a success are common', arm: 'group-relative', of: 'zeroVariance', atLeast: 0.2 },
    { about: 'successes are replayed', arm: 'r3', of: 'replayed', atLeast: 0.02 },
    { about: 'questions are answered again', arm: 'r3', of: 'reflected', atLeast: 0.1 },
    { about: 'questions are hard at the start', arm: ['r3', 'group-relative'], of: 'start', atMost: 0.05 },
  ],
  control: { positive: { better: 'group-relative', than: 'untrained', atLeast: 0.05 } },
  budget: { steps: 30 },
  quick: { steps: 2 },
  simplifications: [
    'not planned: with learning rates tuned alike, one success solves a question for good, so hardly any success is left to replay, and the check for replay fails in the pilot',
    'chains of operations on four digits and a policy linear in features stand for a language model; plain gradient descent',
    'a second answer is one that differs from the failed ones: reflection that learns why an answer failed is not part of this experiment',
    'mean surprise of an answer stands for the structure of its entropy; advantages are not divided by the deviation',
  ],
})
