import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { chainTask, exactValues, reinforce } from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, Tuning } from '../testbeds/prefix-tree/index.ts'

const depths = [1, 2, 3, 4, 5]
const batch = 8

const rule: LearningRule = {
  advantage: { name: 'grpo' },
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'sequence-mean' },
}

/** Mean size of the advantages of a group: 0 for equal rewards. */
function learnability(group: readonly Answer[]): number {
  const rewards = group.map(({ reward }) => reward)
  const mean = average(rewards)
  const deviation = Math.sqrt(average(rewards.map((reward) => (reward - mean) ** 2)))
  return deviation === 0 ? 0 : average(rewards.map((reward) => Math.abs(reward - mean))) / deviation
}

/** What a sampler knows of each depth: groups drawn, the last learnabilities, the last pass rates. */
interface Seen {
  count: number
  learnable: number[]
  passes: number[]
}
/** Weight of each depth in the next batch. */
type Mix = (seen: readonly Seen[], progress: number) => number[]

const recent = (values: readonly number[]): number => (values.length === 0 ? 0 : average(values.slice(-20)))

/** Softmax of the running mean of the learnability plus the bonus of UCB, at temperature 0.1. */
const dump: Mix = (seen) => {
  const total = seen.reduce((sum, { count }) => sum + count, 0)
  return seen.map(({ count, learnable }) =>
    Math.exp((recent(learnable) + Math.sqrt((2 * Math.log(total + 1)) / (count + 1))) / 0.1),
  )
}

const mixes = {
  dump,
  uniform: () => depths.map(() => 1),
  // A schedule by hand: the depths in their order, each for as many steps.
  'easy-to-hard': (_, progress) => depths.map((_, d) => Number(Math.floor(progress * depths.length) >= d)),
  // The variance of the reward in place of the advantage.
  variance: (seen) =>
    seen.map(({ passes }) => (passes.length < 4 ? 0.25 : 0.02 + recent(passes) * (1 - recent(passes)))),
} satisfies Record<string, Mix>
type ArmName = keyof typeof mixes

const budget = { steps: 20 }

function trained(name: ArmName, learningRate: number, { seed, budget }: Omit<ArmRun, 'signal'>): ArmResult {
  const mix: Mix = mixes[name]
  const { policy, train, test, questions } = chainTask({
    seed,
    trainDepths: depths,
    known: [1.5, 1.2, 1, 0.7, 0.4, 0.2, 0, 0],
    count: 25,
    passAt1: 0.15,
  })
  const start = exactValues(policy, test).passAt1
  const seen = depths.map((): Seen => ({ count: 0, learnable: [], passes: [] }))
  const levelOf = (question: number): number => questions[question].operations.length - 1
  const { measures } = reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    batch,
    learningRate,
    seed,
    draw: (random, step) => {
      const weights = mix(seen, step / budget.steps)
      return Array.from({ length: batch }, () => {
        const level = random.weighted(weights)
        return random.pick(train.filter((question) => levelOf(question) === level))
      })
    },
    onStep: (_, __, groups) => {
      for (const group of groups) {
        const { learnable, passes } = seen[levelOf(group[0].question)]
        seen[levelOf(group[0].question)].count++
        learnable.push(learnability(group))
        passes.push(average(group.map(({ reward }) => reward)))
      }
    },
  })
  const shares = seen.map(({ count }) => count / (budget.steps * batch))
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: {
      spread: Math.max(...shares) - Math.min(...shares),
      deepest: shares[depths.length - 1],
      zeroVariance: measures.zeroVariance,
    },
  }
}

/** The best of the grid of `tuning` on seeds 121 to 124. */
const rates: Record<ArmName, number> = { dump: 128, uniform: 256, 'easy-to-hard': 256, variance: 256 }
const names = Object.keys(mixes) as ArmName[]

export const tuning: Tuning = {
  grid: [32, 64, 128, 256, 512, 1024],
  arms: Object.fromEntries(
    names.map((name) => [
      name,
      ({ seed, learningRate }) => trained(name, learningRate, { seed, budget }).score,
    ]),
  ),
}

export default definePaper({
  id: 'dump',
  title: 'DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM Post-training',
  theme: 'curriculum-autorl',
  claim:
    'Sampling the kinds of questions by the size of their advantages, with a bonus for those seen little, learns more than uniform sampling from as many answers.',
  arms: {
    ...(Object.fromEntries(
      names.map((name) => [name, (run: ArmRun) => trained(name, rates[name], run)]),
    ) as Record<ArmName, (run: ArmRun) => ArmResult>),
    untrained: (run) => trained('uniform', 0, run),
  },
  metric: 'exact pass@1 on held-out questions of one to five steps, after as many answers',
  pairing: 'seed',
  effect: { better: 'dump', than: ['uniform', 'easy-to-hard'], atLeast: 0.05 },
  checks: [
    { about: 'kinds are sampled unevenly', arm: 'dump', of: 'spread', atLeast: 0.1 },
    { about: 'the rival samples evenly', arm: 'uniform', of: 'spread', atMost: 0.15 },
    { about: 'some groups teach nothing', arm: 'uniform', of: 'zeroVariance', atLeast: 0.2 },
    { about: 'fewer groups teach nothing under DUMP than 60%', arm: 'dump', of: 'zeroVariance', atMost: 0.6 },
    {
      about: 'the policy can answer some questions at the start',
      arm: 'uniform',
      of: 'start',
      atLeast: 0.1,
      atMost: 0.5,
    },
  ],
  control: { positive: { better: 'uniform', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 3 },
  simplifications: [
    'a softmax over the prefixes of chains of operations, started at pass@1 of 15%, stands for a language model on logic puzzles',
    'depths stand for distributions; the window of the running mean is 20 groups',
  ],
})
