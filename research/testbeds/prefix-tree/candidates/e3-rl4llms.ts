import { definePaper } from '../../../runner/paper.ts'
import type { ArmRun } from '../../../runner/paper.ts'
import { average } from 'agoge/statistics'
import { exactValues, mixedDifficultyTask, reinforce, sampleGroup } from '../index.ts'
import type { LearningRule, Tuning } from '../index.ts'

const batch = 8
const groupSize = 8

const rule: LearningRule = {
  advantage: { name: 'grpo' },
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'sequence-mean' },
}

interface Parts {
  rollouts?: boolean
  temperature?: boolean
}
const parts = {
  e3: { rollouts: true, temperature: true },
  grpo: {},
  'rollouts-only': { rollouts: true },
  'temperature-only': { temperature: true },
} satisfies Record<string, Parts>
type ArmName = keyof typeof parts

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

const budget = { steps: 30 }

/** Chains of one to four operations, of which the policy knows some well and some hardly. */
function trained(name: ArmName, learningRate: number, { seed, budget }: Omit<ArmRun, 'signal'>): number {
  const { rollouts = false, temperature: adapts = false }: Parts = parts[name]
  const { policy, train, test } = mixedDifficultyTask({ seed, count: 32, passAt1: 0.15 })
  const failed = train.map(() => 0.5)
  let sizes = new Map<number, number>()
  let temperature = 1
  let target: number | undefined
  reinforce(policy, {
    rule,
    questions: train,
    steps: budget.steps,
    learningRate,
    seed,
    draw(random) {
      const drawn = random.shuffle(train).slice(0, batch)
      const given = allocate(
        drawn.map((question) => Math.max(0.05, failed[question])),
        batch * groupSize,
      )
      sizes = new Map(drawn.map((question, i) => [question, given[i]]))
      return drawn
    },
    sample(question, random) {
      const size = rollouts ? sizes.get(question)! : groupSize
      const group = sampleGroup(policy, question, random, { size, temperature })
      failed[question] = 0.5 * failed[question] + 0.5 * (1 - average(group.map(({ reward }) => reward)))
      return group
    },
    onStep(_, { entropy }) {
      target ??= entropy
      if (adapts) temperature = Math.min(1.5, Math.max(0.7, temperature + 0.2 * (target - entropy)))
    },
  })
  return exactValues(policy, test).passAt1
}

/** Not tuned yet on questions judged by every digit: run `tune-paper.ts` and put in the best of each arm before a result is taken. */
const learningRates: Record<ArmName, number> = {
  e3: 16,
  grpo: 16,
  'rollouts-only': 16,
  'temperature-only': 16,
}

const names = Object.keys(parts) as ArmName[]

export const tuning: Tuning = {
  grid: [4, 8, 16, 32, 64, 128],
  arms: Object.fromEntries(
    names.map((name) => [name, ({ seed, learningRate }) => trained(name, learningRate, { seed, budget })]),
  ),
}

export const paper = definePaper({
  id: 'e3-rl4llms',
  title: 'Enhancing Efficiency and Exploration in Reinforcement Learning for LLMs',
  theme: 'reasoning',
  claim:
    'More answers to hard questions and fewer to easy ones, at a temperature that holds entropy where it was, learn more than GRPO with as many answers in all.',
  arms: Object.fromEntries(
    names.map((name) => [name, (run: ArmRun) => trained(name, learningRates[name], run)]),
  ) as Record<ArmName, (run: ArmRun) => number>,
  metric:
    'exact pass@1 on questions of one to four steps that were not met, after as many answers, each arm at its best learning rate',
  seeds: 100,
  budget,
  quick: { steps: 1 },
  expect: { better: 'e3', than: ['grpo'] },
  simplifications: [
    'a softmax that is linear in operation, digit and prefix, started at pass@1 of 15%, stands for language models on mathematics',
  ],
})
