import { grpoAdvantages } from 'agoge/losses'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  constructionTask,
  constructionToken,
  exactValues,
  reinforce,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, AdvantagesOfGroups, TunedRun } from '../testbeds/prefix-tree/index.ts'

const bonus = 0.3
const budget = { steps: 10 }

const constructs = ({ tokens }: Answer): boolean => tokens[0] === constructionToken

/** What a construction earns in a group, beside the reward of the answer. */
type Earns = (group: readonly Answer[]) => number

/** Depends on whether answers with a construction do better than those without. */
const contrastive: Earns = (group) => {
  const used = group.filter(constructs)
  if (used.length === 0 || used.length === group.length) return 0
  const rest = group.filter((answer) => !constructs(answer))
  const mean = (answers: readonly Answer[]): number => average(answers.map(({ reward }) => reward))
  return bonus * Math.sign(mean(used) - mean(rest))
}

const parts = {
  gcpo: { earns: contrastive, perToken: 0.02 },
  grpo: { earns: () => 0, perToken: 0 },
  'always-rewarded': { earns: () => bonus, perToken: 0 },
  'gcpo-without-length': { earns: contrastive, perToken: 0 },
} satisfies Record<string, { earns: Earns; perToken: number }>

function trained(name: keyof typeof parts, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { earns, perToken } = parts[name]
  const { policy, train } = constructionTask({ seed })
  const start = exactValues(policy, train).passAt1
  const found = { better: 0, worse: 0, groups: 0 }
  const advantage: AdvantagesOfGroups = (groups) =>
    groups.map((group) => {
      const earned = earns(group)
      found.better += Number(earned > 0)
      found.worse += Number(earned < 0)
      found.groups++
      return grpoAdvantages(
        group.map(
          (answer) =>
            answer.reward * (1 + perToken * answer.tokens.length) + (constructs(answer) ? earned : 0),
        ),
      )
    })
  reinforce(policy, {
    rule: {
      advantage,
      loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
      aggregation: { mode: 'sequence-mean' },
    },
    questions: train,
    steps: budget.steps,
    learningRate,
    seed,
  })
  const using = (kind: string): number =>
    average(
      train
        .filter((q) => policy.tree.questions[q].key.startsWith(kind))
        .map((q) => {
          const root = policy.tree.roots[q]
          return Math.exp(policy.logprobs(root)[root * policy.tree.vocabulary + constructionToken])
        }),
    )
  return {
    score: exactValues(policy, train).passAt1,
    start,
    measures: {
      usedWhereItHelps: using('helps'),
      usedWhereItHarms: using('harms'),
      rewarded: found.better / found.groups,
      charged: found.worse / found.groups,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { gcpo: 32, grpo: 32, 'always-rewarded': 23, 'gcpo-without-length': 32 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [8, 16, 23, 32, 45, 64, 90], budget })
export { tuning }

export default definePaper({
  id: 'geometryzero',
  title: 'GeometryZero: Improving Geometry Solving for LLM with Group Contrastive Policy Optimization',
  theme: 'reasoning',
  claim:
    'A reward or a penalty for an auxiliary construction, by whether it helped within the group, learns more than GRPO and than a reward for every construction.',
  arms,
  metric:
    'exact pass@1 on the trained questions, of which half are easier with a construction and half without, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'gcpo', than: ['grpo', 'always-rewarded'], atLeast: 0.02 },
  checks: [
    { about: 'constructions are rewarded in some groups', arm: 'gcpo', of: 'rewarded', atLeast: 0.1 },
    { about: 'and charged in others', arm: 'gcpo', of: 'charged', atLeast: 0.1 },
    { about: 'constructions stay where they help', arm: 'gcpo', of: 'usedWhereItHelps', atLeast: 0.4 },
    { about: 'and go where they harm', arm: 'gcpo', of: 'usedWhereItHarms', atMost: 0.3 },
    { about: 'no arm is saturated', arm: ['gcpo', 'grpo'], of: 'score', atMost: 0.95 },
  ],
  control: { positive: { better: 'grpo', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 1 },
  simplifications: [
    'a digit on the way, written down, stands for an auxiliary line; a softmax over prefixes for language models',
    'the questions that are measured are those of training',
  ],
})
