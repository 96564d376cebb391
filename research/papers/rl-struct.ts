import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import {
  addNoise,
  copyPolicy,
  createPrefixPolicy,
  createPrefixTree,
  exactValues,
  presetRule,
  reinforce,
  repeated,
  solutionWeights,
  startAt,
  tunedArms,
} from '../testbeds/prefix-tree/index.ts'
import type { Question, TunedRun } from '../testbeds/prefix-tree/index.ts'

/** Tokens: two brackets, a colon, and two words, of which a key and a value are made. */
const [open, close, colon, firstWord] = [0, 1, 2, 3]
const length = 5
const budget = { steps: 16 }

type Reward = (tokens: readonly number[], wanted: readonly number[]) => number

const isWord = (token: number): boolean => token >= firstWord
const structured = ([first, , , , last]: readonly number[]): boolean => first === open && last === close
const valid = (tokens: readonly number[]): boolean =>
  structured(tokens) && isWord(tokens[1]) && tokens[2] === colon && isWord(tokens[3])
const right: Reward = (tokens, wanted) => Number(String(tokens) === String(wanted))

/** Structure, validity, format (the key) and content (the value), a quarter each; later ones require the earlier ones. */
const hierarchical: Reward = (tokens, wanted) => {
  const parts = [structured(tokens), valid(tokens), tokens[1] === wanted[1], tokens[3] === wanted[3]]
  const failed = parts.indexOf(false)
  return (failed < 0 ? parts.length : failed) / parts.length
}

/** The same parts, each for itself. */
const flat: Reward = (tokens, wanted) =>
  (Number(structured(tokens)) +
    Number(valid(tokens)) +
    Number(tokens[1] === wanted[1]) +
    Number(tokens[3] === wanted[3])) /
  4

const rewards = {
  hierarchical,
  'all-or-nothing': right,
  'flat-parts': flat,
  'valid-only': (tokens) => Number(valid(tokens)),
} satisfies Record<string, Reward>

/** Every key with every value. Grammar is a weight by position that all share, words are those of the question. */
function task(seed: number, reward: Reward) {
  const random = createRandom(seed, 'structured-output')
  const words = [firstWord, firstWord + 1]
  const questions = words.flatMap((key) =>
    words.map((value): Question => {
      const wanted = [open, key, colon, value, close]
      return {
        key: `${key}:${value}`,
        maxLength: length,
        solutions: [wanted],
        reward: (tokens) => right(tokens, wanted),
        trainingReward: (tokens) => reward(tokens, wanted),
        features: (prefix) => ({
          [`grammar:${prefix.length}:${prefix.at(-1) ?? 'start'}`]: 1,
          [`${key}:${value}:${prefix.length}`]: 1,
        }),
      }
    }),
  )
  const policy = createPrefixPolicy(createPrefixTree(questions, firstWord + words.length))
  addNoise(policy, random, 0.5)
  const train = questions.map((_, q) => q)
  startAt(policy, solutionWeights(policy.tree), { passAt1: 0.02, questions: train, tolerance: 0.001 })
  return { policy, train }
}

function trained(name: keyof typeof rewards, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { policy: initial, train } = task(seed, rewards[name])
  const start = exactValues(initial).passAt1
  return repeated(8, (repeat) => {
    const policy = copyPolicy(initial)
    const { measures } = reinforce(policy, {
      rule: presetRule('grpo').rule,
      questions: train,
      steps: budget.steps,
      learningRate,
      seed: seed + 1e6 * repeat,
    })
    const { zeroVariance, rewardDensity } = measures
    return { score: exactValues(policy).passAt1, start, measures: { zeroVariance, rewardDensity } }
  })
}

/** By `tune-paper.ts` on seeds 101 to 120, the best of the grid for each arm. */
const learningRates = { hierarchical: 45, 'all-or-nothing': 64, 'flat-parts': 45, 'valid-only': 64 }

const { arms, tuning } = tunedArms(learningRates, trained, { grid: [16, 23, 32, 45, 64, 91], budget })
export { tuning }

export default definePaper({
  id: 'rl-struct',
  title: 'RL-Struct: A Lightweight Reinforcement Learning Framework for Reliable Structured Output in LLMs',
  theme: 'reasoning',
  claim:
    'A reward in parts that build on each other, for structure, validity, format and content, teaches structured output better than one reward for everything being right, and than the same parts each for itself.',
  arms,
  metric:
    'exact probability of the object asked for, to the last token, after as many answers, mean over eight trainings of a task, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'hierarchical', than: ['all-or-nothing', 'flat-parts'], atLeast: 0.03 },
  checks: [
    { about: 'the reward in parts is denser', arm: 'hierarchical', of: 'rewardDensity', atLeast: 0.3 },
    {
      about: 'without parts many groups teach nothing',
      arm: 'all-or-nothing',
      of: 'zeroVariance',
      atLeast: 0.3,
    },
    {
      about: 'all start at 2%',
      arm: ['hierarchical', 'all-or-nothing', 'flat-parts'],
      of: 'start',
      atMost: 0.022,
    },
    { about: 'no arm is saturated', arm: ['hierarchical', 'all-or-nothing'], of: 'score', atMost: 0.97 },
  ],
  control: { positive: { better: 'hierarchical', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { steps: 1 },
  simplifications: [
    'objects of one key, by a softmax that is linear in place, token before and question, stand for recipes by language models',
    'the paper also compares with supervised learning; on a softmax over prefixes right demonstrations win by construction, so that rival is left out',
  ],
})
