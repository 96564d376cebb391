import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  answerOf,
  chainTask,
  exactValues,
  fineTune,
  presetRule,
  reinforce,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, ChainTask, Example, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

const digits = 5
const depth = 4
const batch = 8
const groupSize = 8
/** The guide errs at this share of its steps. */
const errs = 0.15

const budget = { steps: 12 }

type ArmName = 'guide-rolls-in' | 'plain' | 'supervised' | 'supervised-then-plain'

/** What the guide answers, which can only be asked. */
function guided({ questions, apply }: ChainTask, question: number, random: Random): number[] {
  const { operations, start } = questions[question]
  const tokens: number[] = []
  for (const operation of operations)
    tokens.push(random.next() < errs ? random.int(digits) : apply[operation][tokens.at(-1) ?? start])
  return tokens
}

/** The policy's own continuation of a beginning. */
function continued(policy: PrefixPolicy, question: number, begun: readonly number[], random: Random): Answer {
  const { children, roots, vocabulary } = policy.tree
  const tokens: number[] = []
  let node = roots[question]
  while (node >= 0) {
    const row = policy.logprobs(node)
    let left = random.next()
    let token = begun[tokens.length] ?? 0
    if (tokens.length >= begun.length)
      for (; token < vocabulary - 1; token++) {
        left -= Math.exp(row[node * vocabulary + token])
        if (left < 0) break
      }
    tokens.push(token)
    node = children[node * vocabulary + token]
  }
  return answerOf(policy, question, tokens)
}

/** Trains the tokens after the beginning alone. */
const afterBeginning = (example: Example, length: number): Example => ({
  ...example,
  advantage: example.answer.tokens.map((_, t) => (t < length ? 0 : Number(example.advantage))),
})

function trained(name: ArmName, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const known = [1.2, 1, 0.6, 0.2]
  const task = chainTask({ seed, digits, trainDepths: [depth], count: 16, known, passAt1: 0.02 })
  const { policy, train, test } = task
  const start = exactValues(policy, test).passAt1
  const reading =
    name === 'supervised' ? budget.steps : name === 'supervised-then-plain' ? budget.steps / 2 : 0
  const random = createRandom(seed, 'rlgf')
  for (let step = 0; step < reading; step++) {
    const asked = Array.from({ length: batch * groupSize }, () => random.pick(train))
    const shown = asked.map((question) => answerOf(policy, question, guided(task, question, random)))
    fineTune(policy, shown, { steps: 1, learningRate })
  }
  const begunWith = new Map<Answer, number>()
  const rewards = { led: [0], free: [0] }
  let led = 0
  const { measures } = reinforce(policy, {
    rule: presetRule('grpo').rule,
    questions: train,
    steps: budget.steps - reading,
    batch,
    learningRate,
    seed,
    sample(question, random, step): Answer[] {
      // Half of the groups begin where the guide has led; all answers of a group have the same beginning.
      const begun =
        name === 'guide-rolls-in' && random.next() < 0.5
          ? guided(task, question, random).slice(0, 1 + random.int(depth - 1))
          : []
      led += Number(begun.length > 0)
      const group = Array.from({ length: groupSize }, () => continued(policy, question, begun, random))
      for (const answer of group) begunWith.set(answer, begun.length)
      if (step === 0) rewards[begun.length > 0 ? 'led' : 'free'].push(...group.map(({ reward }) => reward))
      return group
    },
    examples: (examples) =>
      examples.map((example) => afterBeginning(example, begunWith.get(example.answer) ?? 0)),
  })
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: {
      led: led / (budget.steps * batch),
      lift: average(rewards.led) - average(rewards.free),
      zeroVariance: reading === budget.steps ? 0 : measures.zeroVariance,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = {
  'guide-rolls-in': 128,
  plain: 128,
  supervised: 256,
  'supervised-then-plain': 256,
}

const { arms, tuning } = tunedArms(learningRates, trained, {
  grid: [16, 32, 64, 128, 256, 512, 1024],
  budget,
})
export { tuning }

export default definePaper({
  id: 'rlgf',
  title: 'Learning to Generate Better Than Your LLM',
  theme: 'reasoning',
  claim:
    'Policy optimisation that begins half of its answers where a guide has led learns more than from its own beginnings alone, and more than imitation of the guide.',
  arms,
  metric:
    'exact pass@1, without the guide, on questions of four steps that were not met, after as many updates of 64 answers, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'guide-rolls-in', than: ['plain', 'supervised'], atLeast: 0.03 },
  checks: [
    {
      about: 'the guide leads for half of the groups',
      arm: 'guide-rolls-in',
      of: 'led',
      atLeast: 0.4,
      atMost: 0.6,
    },
    {
      about: 'after a beginning of the guide right answers are likelier',
      arm: 'guide-rolls-in',
      of: 'lift',
      atLeast: 0.03,
    },
    { about: 'without the guide the questions are hard', arm: 'plain', of: 'start', atMost: 0.05 },
    {
      about: 'some groups differ in their rewards',
      arm: ['guide-rolls-in', 'plain'],
      of: 'zeroVariance',
      atMost: 0.95,
    },
    {
      about: 'no arm is saturated',
      arm: ['guide-rolls-in', 'plain', 'supervised'],
      of: 'score',
      atMost: 0.95,
    },
  ],
  control: { positive: { better: 'plain', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 2 },
  simplifications: [
    'a script that chains operations and errs in 15 of 100 steps stands for a large language model; it always begins an answer, so AggreVaTeD, where it ends one, is not compared',
    'a softmax that is linear in operation, digit and prefix stands for a language model; advantages relative to the group stand for the critic of PPO',
    'an answer counts only if every digit is right, so a group that begins with an error of the guide has no reward',
    'the policies of the paper are fine-tuned before RL: the arm that is fine-tuned for half of its updates has this in part, the others start at pass@1 of 2%',
  ],
})
