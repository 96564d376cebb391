import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import {
  addNoise,
  createPrefixPolicy,
  createPrefixTree,
  exactValues,
  fineTune,
  ownFeature,
  plainRule,
  prefer,
  reinforce,
  sampleGroup,
  solutionWeights,
  startAt,
  tokenWeights,
} from '../testbeds/prefix-tree/index.ts'
import type { Pair, PrefixTask, Question } from '../testbeds/prefix-tree/index.ts'

const vocabulary = 5

/**
 * Questions whose answer is one to three tokens in their order. Token 0 ends an answer, and token 1 is filler. How much filler
 * follows the content is one weight vector that all questions share, so that a preference for length spreads. Wrong is an
 * answer without an end in five tokens.
 */
function wordyTask(seed: number): PrefixTask {
  const random = createRandom(seed, 'wordy')
  const questions = Array.from({ length: 12 }, (_, q): Question => {
    const solution = Array.from({ length: 1 + (q % 3) }, () => 2 + random.int(vocabulary - 2))
    const key = `wordy${q}`
    const contentOf = (tokens: readonly number[]): number[] => tokens.filter((token) => token > 1)
    return {
      key,
      maxLength: 5,
      solutions: [[...solution, 0]],
      ends: (tokens) => tokens.at(-1) === 0,
      reward: (tokens, truncated) => Number(!truncated && contentOf(tokens).join() === solution.join()),
      features: (prefix) => ({
        [ownFeature({ key }, contentOf(prefix))]: 1,
        ...(contentOf(prefix).length >= solution.length ? { style: 1 } : {}),
      }),
    }
  })
  const policy = createPrefixPolicy(createPrefixTree(questions, vocabulary))
  addNoise(policy, random, 0.3)
  policy.weights[policy.tree.features.get('style')! * vocabulary + 1] += 1
  const train = questions.map((_, q) => q)
  const direction = solutionWeights(policy.tree, (name) => name !== 'style')
  startAt(policy, direction, { passAt1: 0.3, questions: train })
  return { policy, train, test: train }
}

/** A right and a wrong answer of eight, for each group that has both. Takes the longest right one, as raters with a length bias would. */
function pairsOf({ policy, train }: PrefixTask, seed: number, groups: number): Pair[] {
  const random = createRandom(seed, 'pairs')
  return Array.from({ length: groups }, (_, g) => {
    const group = sampleGroup(policy, train[g % train.length], random, { size: 8 }).filter(
      ({ truncated }) => !truncated,
    )
    const chosen = group
      .filter(({ reward }) => reward === 1)
      .toSorted((a, b) => b.tokens.length - a.tokens.length)
      .at(0)
    const rejected = group.find(({ reward }) => reward === 0)
    return chosen === undefined || rejected === undefined ? [] : [{ chosen, rejected }]
  }).flat()
}

/** Share of the tokens of chosen answers that lie beyond the length of the rejected ones. */
const beyondShared = (pairs: readonly Pair[]): number => {
  const tokens = pairs.flatMap((pair) => tokenWeights(pair, pair.chosen, 0))
  return 1 - average(tokens)
}

type Method = 'dpo' | 'ld-dpo' | 'supervised' | 'online'

/** Trains and returns exact pass@1. Offline methods sample as many answers as the online one, all from the starting policy. */
export function trained(
  method: Method | 'untrained',
  { seed, steps, learningRate }: { seed: number; steps: number; learningRate: number },
): ArmResult {
  const task = wordyTask(seed)
  const { policy, train } = task
  const before = exactValues(policy, train)
  const pairs = pairsOf(task, seed, 8 * steps)
  const updates = 4 * steps
  if (method === 'supervised')
    fineTune(
      policy,
      pairs.map(({ chosen }) => chosen),
      { steps: updates, learningRate },
    )
  else if (method === 'online')
    reinforce(policy, { rule: plainRule, questions: train, steps, learningRate, seed })
  else if (method !== 'untrained')
    prefer(policy, pairs, {
      lengthWeight: method === 'dpo' ? 1 : 0.3,
      beta: 0.3,
      learningRate,
      steps: updates,
    })
  const after = exactValues(policy, train)
  const lengthOf = (which: keyof Pair): number => average(pairs.map((pair) => pair[which].tokens.length))
  return {
    score: after.passAt1,
    start: before.passAt1,
    measures: {
      pairs: pairs.length,
      confound: pairs.length === 0 ? 0 : lengthOf('chosen') - lengthOf('rejected'),
      beyond: pairs.length === 0 ? 0 : beyondShared(pairs),
      lengthened: after.length - before.length,
    },
  }
}

const arm =
  (method: Method | 'untrained', learningRate = 1) =>
  ({ seed, budget }: ArmRun): ArmResult =>
    trained(method, { seed, steps: budget.steps, learningRate })

export default definePaper({
  id: 'offline-rl-for-reasoning',
  title: 'Exploring the Potential of Offline RL for Reasoning in LLMs: A Preliminary Study',
  theme: 'reasoning',
  claim:
    'Preferences between right and wrong answers of its own improve a model more than supervised learning of the right ones, and more where tokens beyond the shared length weigh little (LD-DPO).',
  arms: {
    'ld-dpo': arm('ld-dpo', 64),
    dpo: arm('dpo', 32),
    supervised: arm('supervised', 8),
    online: arm('online', 100),
    untrained: arm('untrained'),
  },
  metric: 'exact pass@1 on the questions of the pairs, after the same number of sampled answers',
  pairing: 'seed',
  effect: { better: 'ld-dpo', than: ['supervised', 'dpo'], atLeast: 0.03 },
  checks: [
    {
      about: 'preferred answers are longer, in tokens',
      arm: ['ld-dpo', 'dpo'],
      of: 'confound',
      atLeast: 0.3,
    },
    {
      about: 'tokens of preferred answers lie beyond the shared length',
      arm: 'ld-dpo',
      of: 'beyond',
      atLeast: 0.1,
    },
    { about: 'pairs to learn from', arm: ['ld-dpo', 'dpo', 'supervised'], of: 'pairs', atLeast: 50 },
    { about: 'starting competence', arm: 'ld-dpo', of: 'start', atLeast: 0.28, atMost: 0.32 },
  ],
  control: { positive: { better: 'supervised', than: 'untrained', atLeast: 0.05 }, same: 'dpo' },
  budget: { steps: 16 },
  quick: { steps: 2 },
  simplifications: [
    'pairs prefer the longest right of eight answers, so that length is confounded with being right',
    'a policy linear in features, with filler after the content that changes nothing, stands for a language model; plain gradient descent',
    'beta is 0.3 for both, and the weight beyond the shared length is 0.3; the learning rate is tuned on the same grid for each arm',
  ],
})
