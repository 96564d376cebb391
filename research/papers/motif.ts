import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  addNoise,
  createPrefixPolicy,
  createPrefixTree,
  ownFeature,
  passRates,
  presetRule,
  reinforce,
  sampleAnswer,
  solutionWeights,
  startAt,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, PrefixPolicy, Question, TunedRun } from '../testbeds/prefix-tree/index.ts'

const digits = [0, 1, 2, 3, 4, 5]
const operations = 4
/** Digits that a round writes. */
const window = 2
const groupSize = 8
const budget = { steps: 20 }

type ArmName = 'motif' | 'grpo' | 'grpo-on-short'

/** A question of two operations, which fit into a round, or of four. A long one goes on at `next[digit]` in its second round. */
interface Asked {
  question: number
  next?: number[]
}

/** Questions of one and of two rounds, and the policy. An answer is right if its last round ends with the right digit. */
function taskOf(seed: number) {
  const random = createRandom(seed, 'motif')
  const tables = Array.from({ length: operations }, () => random.shuffle(digits))
  const questions: Question[] = []
  function add(chain: readonly number[], start: number, target: number): number {
    const key = `q${questions.length}`
    const middle = tables[chain[0]][start]
    const solutions = [[middle, tables[chain[1]][middle]]]
    const reward: Question['reward'] = ([, last]) => Number(last === target)
    const features = (prefix: readonly number[]) => ({
      [`skill:${chain[prefix.length]}:${prefix.at(-1) ?? start}`]: 1,
      [ownFeature({ key }, prefix)]: 0.5,
    })
    return questions.push({ key, maxLength: window, solutions, reward, features }) - 1
  }
  function ask(length: number): Asked {
    const chain = Array.from({ length }, () => random.int(operations))
    const start = random.pick(digits)
    const target = chain.reduce((digit, operation) => tables[operation][digit], start)
    const question = add(chain, start, target)
    if (length === window) return { question }
    return { question, next: digits.map((digit) => add(chain.slice(window), digit, target)) }
  }
  const many = (length: number): Asked[] => Array.from({ length: 16 }, () => ask(length))
  const [short, others, long, test] = [window, window, 2 * window, 2 * window].map(many)
  const policy = createPrefixPolicy(createPrefixTree(questions, digits.length))
  addNoise(policy, random, 0.3)
  const skills = solutionWeights(policy.tree, (name) => name.startsWith('skill'))
  startAt(policy, skills, { passAt1: 0.35, questions: short.map(({ question }) => question) })
  return { policy, short, others, long, test }
}

/** Probability that a long question is right after its second round, which starts from the last digit of the first. */
function passInRounds(policy: PrefixPolicy, { question, next = [] }: Asked): number {
  const { roots, children, vocabulary } = policy.tree
  const root = roots[question] * vocabulary
  const way = (first: number, last: number): number => {
    const node = children[root + first]
    const logprob = policy.logprobs(roots[question])[root + first]
    return Math.exp(logprob + policy.logprobs(node)[node * vocabulary + last])
  }
  return passRates(policy, next).reduce(
    (sum, pass, last) => sum + pass * digits.reduce((ways, first) => ways + way(first, last), 0),
    0,
  )
}

function trained(name: ArmName, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { policy, short, others, long, test } = taskOf(seed)
  const score = (): number => average(test.map((asked) => passInRounds(policy, asked)))
  const start = score()
  const asked = [...short, ...(name === 'grpo-on-short' ? others : long)]
  const nextOf = new Map(asked.map(({ question, next }) => [question, name === 'motif' ? next : undefined]))
  const second = new Map<Answer, Answer>()
  // As many tokens for every arm: half of the questions of MOTIF have two rounds.
  const batch = name === 'motif' ? 8 : 12
  const { measures } = reinforce(policy, {
    rule: presetRule('grpo').rule,
    questions: asked.map(({ question }) => question),
    steps: budget.steps,
    batch,
    learningRate,
    seed,
    sample(question, random): Answer[] {
      const next = nextOf.get(question)
      return Array.from({ length: groupSize }, () => {
        const first = sampleAnswer(policy, question, random)
        if (next === undefined) return first
        const end = sampleAnswer(policy, next[first.tokens[window - 1]], random)
        const answer = { ...first, reward: end.reward, score: end.score }
        second.set(answer, end)
        return answer
      })
    },
    examples: (examples) =>
      examples.flatMap((example) => {
        const end = second.get(example.answer)
        return end === undefined ? [example] : [example, { ...example, answer: end }]
      }),
  })
  const handedOn = second.size / (budget.steps * batch * groupSize)
  return { score: score(), start, measures: { zeroVariance: measures.zeroVariance, handedOn } }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const rates = { motif: 64, grpo: 32, 'grpo-on-short': 64 }
const { arms, tuning } = tunedArms(rates, trained, { grid: [8, 16, 32, 64, 128, 256, 512], budget })
export { tuning }

export default definePaper({
  id: 'motif',
  title: 'MOTIF: Modular Thinking via Reinforcement Fine-tuning in LLMs',
  theme: 'reasoning',
  claim:
    'Where thought is longer than the window, training in rounds that hand their result on, by the outcome of the last, learns more than GRPO within one window, on all questions or on those that fit.',
  arms,
  metric:
    'exact probability, in two rounds of two digits, of the right end of questions of four steps that were not met, after as many tokens, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'motif', than: ['grpo', 'grpo-on-short'], atLeast: 0.03 },
  checks: [
    {
      about: 'half of the questions go on in a second round',
      arm: 'motif',
      of: 'handedOn',
      atLeast: 0.4,
      atMost: 0.6,
    },
    { about: 'without MOTIF none does', arm: ['grpo', 'grpo-on-short'], of: 'handedOn', atMost: 0 },
    {
      about: 'some groups differ in their rewards',
      arm: ['motif', 'grpo', 'grpo-on-short'],
      of: 'zeroVariance',
      atMost: 0.9,
    },
    { about: 'no arm is saturated', arm: ['motif', 'grpo-on-short'], of: 'score', atMost: 0.97 },
  ],
  control: { positive: { better: 'grpo-on-short', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 1 },
  simplifications: [
    'a softmax that is linear in operation, digit and prefix, started at pass@1 of 35% on what fits into a round, stands for a language model',
    'a round always has two digits; a script hands on the last one with the operations that are left',
    'both rounds are trained by the outcome of the last, in groups of whole thoughts; every arm is tested in two rounds',
    'one window holds two digits, so GRPO on long questions is rewarded for ends that are right by chance: that it loses is close to following by construction, that GRPO on short ones does is not',
  ],
})
