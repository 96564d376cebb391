import { grpoAdvantages, onlinePairs } from 'agoge/losses'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  copyPolicy,
  descend,
  exactValues,
  lossGradient,
  reinforce,
  repeated,
  tunedArms,
  turnsTask,
} from '../testbeds/prefix-tree/index.ts'
import type {
  AdvantagesOfGroups,
  Answer,
  Example,
  LearningRule,
  PrefixPolicy,
  TunedRun,
} from '../testbeds/prefix-tree/index.ts'

const beta = 0.5
const turns = 5
const loss = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
const aggregation = { mode: 'sequence-mean' } as const
const budget = { steps: 6 }

const logprobsOf = (policy: PrefixPolicy, { nodes, tokens }: Answer): number[] =>
  nodes.map((node, t) => policy.logprobs(node)[node * policy.tree.vocabulary + tokens[t]])
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)

/** A step of DPO on all pairs of a right and a wrong answer of each group, against the policy that sampled them. */
function learnPairs(judge: PrefixPolicy, groups: readonly (readonly Answer[])[], learningRate: number): void {
  const margin = (answer: Answer): number => sum(logprobsOf(judge, answer)) - sum(answer.logprobs)
  const examples = groups.flatMap((group) =>
    onlinePairs(
      group.map(({ reward }) => reward),
      { pairing: 'all' },
    ).flatMap(({ chosen, rejected }): Example[] => {
      const slope = beta / (1 + Math.exp(beta * (margin(group[chosen]) - margin(group[rejected]))))
      return [
        { answer: group[chosen], imitation: slope },
        { answer: group[rejected], imitation: -slope },
      ]
    }),
  )
  const rule = { loss, aggregation }
  if (examples.length > 0) descend(judge, lossGradient(judge, examples, rule).gradient, { learningRate })
}

/** The judge's implicit reward of each step, normalised over the steps of the group to mean 0, deviation 1. */
function stepAdvantages(judge: PrefixPolicy, group: readonly Answer[]): number[][] {
  const rewards = group.map((answer) =>
    logprobsOf(judge, answer).map((logprob, t) => beta * (logprob - answer.logprobs[t])),
  )
  const mean = average(rewards.flat())
  const deviation = Math.sqrt(average(rewards.flat().map((reward) => (reward - mean) ** 2)))
  return rewards.map((row) => row.map((reward) => (reward - mean) / (deviation + 1e-4)))
}

const parts = {
  oprl: undefined,
  'outcome-only': { name: 'grpo' },
  'batch-deviation': { name: 'batch-grpo' },
} satisfies Record<string, LearningRule['advantage'] | undefined>

/** Five turns of which three matter. */
function trained(name: keyof typeof parts, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const task = turnsTask({ seed, turns, decoys: 2, vocabulary: 4, passAt1: 0.05 })
  const { train } = task
  const start = exactValues(task.policy, train).passAt1
  return repeated(8, (repeat) => {
    const policy = copyPolicy(task.policy)
    const judge = copyPolicy(policy)
    const separated: number[] = []
    const withSteps: AdvantagesOfGroups = (groups) => {
      learnPairs(judge, groups, learningRate)
      return groups.map((group) => {
        const ofEpisode = grpoAdvantages(group.map(({ reward }) => reward))
        const ofSteps = stepAdvantages(judge, group)
        separated.push(separation(group, ofSteps))
        return group.map((_, m) => ofSteps[m].map((advantage) => advantage + ofEpisode[m]))
      })
    }
    const { measures } = reinforce(policy, {
      rule: { advantage: parts[name] ?? withSteps, loss, aggregation },
      questions: train,
      steps: budget.steps,
      learningRate,
      seed: seed + 1e6 * repeat,
    })
    return {
      score: exactValues(policy, train).passAt1,
      start,
      measures: {
        zeroVariance: measures.zeroVariance,
        separated: separated.length > 0 ? average(separated) : 0,
      },
    }
  })
}

/** Mean step advantage in right answers less that in wrong ones; 0 where a group has only one kind. */
function separation(group: readonly Answer[], advantages: readonly (readonly number[])[]): number {
  const of = (right: boolean): number[] =>
    group.flatMap(({ reward }, m) => ((reward === 1) === right ? [average(advantages[m])] : []))
  const [good, bad] = [of(true), of(false)]
  return good.length === 0 || bad.length === 0 ? 0 : average(good) - average(bad)
}

/**
 * Not settled: on seeds 101 to 120 every arm rises to 0.880 at 4096, the edge of the grid, where a single success settles a
 * task. Needs outcomes that are wrong at times (`flips`), or tasks that share features.
 */
const learningRates = { oprl: 512, 'outcome-only': 512, 'batch-deviation': 512 }

const { arms, tuning } = tunedArms(learningRates, trained, {
  grid: [64, 128, 256, 512, 1024, 2048, 4096],
  budget,
})
export { tuning }

export default definePaper({
  id: 'oprl',
  title: 'Online Process Reward Leanring for Agentic Reinforcement Learning',
  theme: 'rewards',
  claim:
    'An implicit process reward model, trained by DPO on whole trajectories in turn with the policy, gives advantages to steps that make group-relative learning from outcomes faster.',
  arms,
  metric:
    'exact share of right series of five turns, of which three matter, after as many answers, mean over eight trainings of a task, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'oprl', than: ['outcome-only'], atLeast: 0.03 },
  checks: [
    { about: 'the judge prefers steps of right answers', arm: 'oprl', of: 'separated', atLeast: 0.1 },
    { about: 'groups differ', arm: 'outcome-only', of: 'zeroVariance', atMost: 0.7 },
    { about: 'no judge', arm: 'outcome-only', of: 'separated', atMost: 0 },
    { about: 'no arm is saturated', arm: ['oprl', 'outcome-only'], of: 'score', atMost: 0.95 },
  ],
  control: { positive: { better: 'outcome-only', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'series of turns of one token, by a softmax over states, stand for web shops and Sokoban',
    'policy and process reward model share a learning rate, which is tuned',
  ],
})
