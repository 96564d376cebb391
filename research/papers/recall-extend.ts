import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import {
  answerOf,
  demonstrations,
  fineTune,
  mixedDifficultyTask,
  passRates,
  presetRule,
  reinforce,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, ChainTask } from '../testbeds/prefix-tree/index.ts'

/** How an arm uses the teacher's solutions. Settings of each arm are the best of the same grids on seeds above 100. */
interface Settings {
  learningRate: number
  /** Weight of cloning, relative to a mean over tokens of the answers. Default: 0. */
  weight?: number
  /** Whether entropies change the weight, and only questions that the model fails are cloned. Default: false. */
  controlled?: boolean
  /** Share of the updates that only clone, before reinforcement. Default: 0. */
  first?: number
}

/** Nats per token of the teacher's solutions under the policy. */
const surprise = ({ policy }: ChainTask, shown: readonly Answer[]): number =>
  -average(shown.flatMap(({ question, tokens }) => answerOf(policy, question, tokens).logprobs))

/** Trains and returns exact pass@1 on questions that were not met, as a mean over the updates. */
export function trained(
  { seed, steps }: { seed: number; steps: number },
  { learningRate, weight = 0, controlled = false, first = 0 }: Settings,
): ArmResult {
  const task = mixedDifficultyTask({ seed, passAt1: 0.1 })
  const { policy, train, test } = task
  const start = average(passRates(policy, test))
  const shown = demonstrations(task, { count: train.length, wrong: 0.25, seed })
  const cloning = Math.round(first * steps)
  const passed: number[] = []
  const score = (): number => passed.push(average(passRates(policy, test)))
  for (let step = 0; step < cloning; step++) {
    fineTune(policy, shown, { steps: 1, learningRate })
    score()
  }

  let [initial, ratio] = [{ online: 0, offline: surprise(task, shown) }, 1]
  const [cloned, ratios]: [number[], number[]] = [[], []]
  reinforce(policy, {
    rule: presetRule('grpo-damped').rule,
    questions: train,
    steps: steps - cloning,
    learningRate,
    seed,
    examples(plain, group) {
      const fails = average(group.map(({ reward }) => reward)) < 0.5
      const clones = weight > 0 && (fails || !controlled)
      cloned.push(Number(clones))
      if (!clones) return plain
      return [
        ...plain,
        { answer: shown[group[0].question], imitation: weight * (controlled ? Math.min(2, ratio) : 1) },
      ]
    },
    onStep(step, { entropy }) {
      if (step === 0) initial = { ...initial, online: entropy }
      if (controlled)
        ratio = surprise(task, shown) / initial.offline / Math.max(0.05, entropy / initial.online)
      ratios.push(Math.abs(ratio - 1))
      score()
    },
  })
  const measures = {
    cloned: cloned.length === 0 ? 0 : average(cloned),
    ratioChange: ratios.length === 0 ? 0 : average(ratios),
  }
  return { score: passed.length === 0 ? start : average(passed), start, measures }
}

const arm =
  (settings: Settings) =>
  ({ seed, budget }: ArmRun): ArmResult =>
    trained({ seed, steps: budget.steps }, settings)

export default definePaper({
  id: 'recall-extend',
  title:
    'Recall-Extend Dynamics: Enhancing Small Language Models through Controlled Exploration and Refined Offline Integration',
  theme: 'reasoning',
  claim:
    "A teacher's solutions cloned where the model fails, with a weight by the entropy of its own answers against its surprise at the teacher's, teach more than imitation before reinforcement and than a fixed mixture.",
  arms: {
    red: arm({ learningRate: 300, weight: 0.3, controlled: true }),
    'sft-then-rl': arm({ learningRate: 300, first: 1 / 12 }),
    'fixed-mixture': arm({ learningRate: 300, weight: 0.1 }),
    grpo: arm({ learningRate: 300 }),
    untrained: ({ seed }) => trained({ seed, steps: 0 }, { learningRate: 1 }),
  },
  metric:
    'exact pass@1 on questions of one to four steps that were not met, mean over the states after each of 12 updates',
  pairing: 'seed',
  effect: { better: 'red', than: ['sft-then-rl', 'fixed-mixture'], atLeast: 0.03 },
  checks: [
    { about: 'red clones some questions, not all', arm: 'red', of: 'cloned', atLeast: 0.1, atMost: 0.9 },
    { about: 'entropies change the weight', arm: 'red', of: 'ratioChange', atLeast: 0.1 },
    { about: 'the mixture clones always', arm: 'fixed-mixture', of: 'cloned', atLeast: 1 },
    {
      about: 'arms start with the same competence',
      arm: ['red', 'grpo'],
      of: 'start',
      atLeast: 0.05,
      atMost: 0.25,
    },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.05 }, same: 'fixed-mixture' },
  budget: { steps: 12 },
  quick: { steps: 4 },
  simplifications: [
    'chains of operations on four digits, a policy linear in features that questions share, and plain gradient descent stand for small language models',
    "a quarter of the teacher's solutions are wrong in the last digit: with a faultless teacher imitation alone would win by construction",
    "surprise at the teacher's tokens stands for the entropy on offline data",
  ],
})
