import { grpoAdvantages, onlinePairs } from 'agoge/losses'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import { copyPolicy, descend, lossGradient, passRates } from '../testbeds/prefix-tree/index.ts'
import { reinforce, repeated, tunedArms, turnsTask } from '../testbeds/prefix-tree/index.ts'
import type { AdvantagesOfGroups, Answer, Example } from '../testbeds/prefix-tree/index.ts'
import type { LearningRule, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

const beta = 0.5
/** Learning rate of the judge, as a multiple of the policy's. */
const judgeRate = 4
const turns = 5
const loss = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
const aggregation = { mode: 'sequence-mean' } as const
const budget = { steps: 12 }

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

type ArmName = 'oprl' | 'outcome-only' | 'leave-one-out' | 'step-groups'

const rivals = {
  'outcome-only': { name: 'grpo' },
  'leave-one-out': { name: 'rloo' },
  'step-groups': { name: 'step-group', weight: 0.3 },
} satisfies Record<Exclude<ArmName, 'oprl'>, LearningRule['advantage']>

/** The advantage of the outcome, with that of each step. Adds how far the judge separates right from wrong answers to `separated`. */
const withSteps =
  (judge: PrefixPolicy, learningRate: number, separated: number[]): AdvantagesOfGroups =>
  (groups) => {
    learnPairs(judge, groups, learningRate)
    return groups.map((group) => {
      const ofEpisode = grpoAdvantages(group.map(({ reward }) => reward))
      const ofSteps = stepAdvantages(judge, group)
      separated.push(separation(group, ofSteps))
      return group.map((_, m) => ofSteps[m].map((advantage) => advantage + ofEpisode[m]))
    })
  }

/** The mean over eight trainings from the same start on the same task, in which three of five turns matter. */
function trained(name: ArmName, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const task = turnsTask({ seed, turns, decoys: 2, vocabulary: 4, passAt1: 0.1, flips: 0.1 })
  const { train } = task
  return repeated(8, (repeat) => {
    const policy = copyPolicy(task.policy)
    const separated: number[] = []
    const curve: number[] = []
    const judge = copyPolicy(policy)
    const { measures } = reinforce(policy, {
      rule: {
        advantage: name === 'oprl' ? withSteps(judge, judgeRate * learningRate, separated) : rivals[name],
        loss,
        aggregation,
      },
      questions: train,
      steps: budget.steps,
      learningRate,
      seed: seed + 1e6 * repeat,
      onStep: () => void curve.push(average(passRates(policy, train))),
    })
    return {
      score: average(curve),
      start: average(passRates(task.policy, train)),
      measures: {
        zeroVariance: measures.zeroVariance,
        separated: separated.length > 0 ? average(separated) : 0,
        last: curve.at(-1)!,
      },
    }
  })
}

/** Mean step advantage in truly right answers less that in wrong ones; 0 where a group has only one kind. */
function separation(group: readonly Answer[], advantages: readonly (readonly number[])[]): number {
  const of = (right: boolean): number[] =>
    group.flatMap(({ score }, m) => ((score === 1) === right ? [average(advantages[m])] : []))
  const [good, bad] = [of(true), of(false)]
  return good.length === 0 || bad.length === 0 ? 0 : average(good) - average(bad)
}

/** Best of the grid for each arm on seeds 201 to 210. */
const learningRates = { oprl: 128, 'outcome-only': 256, 'leave-one-out': 512, 'step-groups': 256 }

const { arms, tuning } = tunedArms(learningRates, trained, {
  grid: [16, 32, 64, 128, 256, 512, 1024],
  budget,
})
export { tuning }

export default definePaper({
  id: 'oprl',
  title: 'Online Process Reward Leanring for Agentic Reinforcement Learning',
  theme: 'rewards',
  claim:
    'An implicit process reward model, trained by DPO on whole trajectories in turn with the policy, gives advantages to steps that make group-relative learning faster than from outcomes alone, and than comparing steps in equal states.',
  arms,
  metric:
    'exact share of right series of five turns, of which three matter, mean over the updates and over eight trainings of a task, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'oprl', than: ['outcome-only', 'step-groups'], atLeast: 0.03 },
  checks: [
    { about: 'the judge prefers steps of right answers', arm: 'oprl', of: 'separated', atLeast: 0.1 },
    { about: 'groups differ', arm: 'outcome-only', of: 'zeroVariance', atMost: 0.7 },
    { about: 'no judge', arm: 'outcome-only', of: 'separated', atMost: 0 },
    { about: 'success is rare at the start', arm: 'oprl', of: 'start', atLeast: 0.05, atMost: 0.15 },
    {
      about: 'no arm is saturated',
      arm: ['oprl', 'outcome-only', 'step-groups'],
      of: 'score',
      atMost: 0.95,
    },
  ],
  control: { positive: { better: 'outcome-only', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'series of turns of one token, by a softmax over states that answers share, stand for web shops and Sokoban; social tasks and PPO with a critic are left out',
    'one outcome in ten is wrong, so that a single success does not settle a task',
    'each arm has the best of seven learning rates, of 1, 4, 16 and 64 times as fast a judge (oprl) or of weights 0.3, 1 and 3 of a step (step-groups; 0 is outcome-only) on seeds 201 to 210, where the arms were within 0.02 of each other',
  ],
})
