import { expect, test } from 'vitest'
import { average } from 'agoge/statistics'
import { createRandom } from 'agoge/engine'
import { policyPresets } from 'agoge/llm'
import type { PolicyPresetName } from 'agoge/llm'
import {
  advantagesOf,
  answerOf,
  asAnswerTo,
  chainTask,
  copyPolicy,
  cosine,
  createPrefixPolicy,
  createPrefixTree,
  exactGradient,
  exactValues,
  lossGradient,
  norm,
  plainRule,
  presetRule,
  reinforce,
  sampleGroup,
  variableLengthTask,
} from './index.ts'
import type { Example, LearningRule, PrefixPolicy } from './index.ts'

const smallTask = () => variableLengthTask({ seed: 3, count: 3, vocabulary: 4, maxLength: 4, most: 2 })

/** d value / d weights by central differences. */
function differences(policy: PrefixPolicy, value: () => number, step = 1e-5): Float64Array {
  return policy.weights.map((weight, i) => {
    const at = (moved: number): number => {
      policy.weights[i] = moved
      policy.changed()
      return value()
    }
    const slope = (at(weight + step) - at(weight - step)) / (2 * step)
    at(weight)
    return slope
  })
}

const distance = (a: Float64Array, b: Float64Array): number => norm(a.map((value, i) => value - b[i]))

test('the tree holds every prefix once, and says where answers end', () => {
  const tree = createPrefixTree(
    [
      {
        key: 'q',
        maxLength: 2,
        solutions: [[1, 1]],
        reward: ([a, b]) => a * b,
        ends: ([first]) => first === 0,
      },
    ],
    2,
  )
  expect([...tree.roots]).toEqual([0, 2])
  expect([...tree.children]).toEqual([-1, 1, -1, -1])
  expect([...tree.truncated]).toEqual([0, 0, 1, 1])
  expect(tree.rewards[3]).toBe(1)
  expect(() => createPrefixTree(tree.questions, 1)).toThrow(expect.objectContaining({ code: 'bad-config' }))
  expect(() => answerOf(createPrefixPolicy(tree), 0, [1])).toThrow(
    expect.objectContaining({ code: 'shape-mismatch' }),
  )
})

test('exact values are those of many samples', () => {
  const { policy, train } = smallTask()
  const random = createRandom(1)
  const answers = train.flatMap((question) => sampleGroup(policy, question, random, { size: 20_000 }))
  const { passAt1, passAt, length, entropy, passByQuestion } = exactValues(policy)
  const surprise = answers.map(({ logprobs }) => -logprobs.reduce((sum, value) => sum + value, 0))
  expect(average(answers.map(({ score }) => score))).toBeCloseTo(passAt1, 2)
  expect(average(answers.map(({ tokens }) => tokens.length))).toBeCloseTo(length, 1)
  expect(average(surprise)).toBeCloseTo(entropy, 1)
  expect(passAt(1)).toBeCloseTo(passAt1, 12)
  expect(passAt(3)).toBeCloseTo(average(passByQuestion.map((p) => 1 - (1 - p) ** 3)), 12)
})

test('the exact gradient is that of the exact reward, and the mean of sampled REINFORCE', () => {
  const { policy, train } = smallTask()
  const exact = exactGradient(policy)
  expect(
    distance(
      exact,
      differences(policy, () => exactValues(policy).reward),
    ),
  ).toBeLessThan(1e-7)
  const random = createRandom(2)
  const groups = Array.from({ length: 6000 }, (_, i) =>
    sampleGroup(policy, train[i % 3], random, { size: 4 }),
  )
  const advantages = advantagesOf(policy, groups, plainRule.advantage)
  const examples = groups.flatMap((group, g) =>
    group.map((answer, m): Example => ({ answer, advantage: advantages[g][m]! })),
  )
  const sampled = lossGradient(policy, examples, plainRule).gradient.map((value) => -value)
  expect(cosine(sampled, exact)).toBeGreaterThan(0.99)
  expect(norm(sampled) / norm(exact)).toBeCloseTo(1, 1)
})

/** Groups sampled before the policy moved, so that ratios differ from 1 and clips act. */
function staleExamples(rule: LearningRule) {
  const { policy, train } = smallTask()
  const random = createRandom(4)
  const groups = train.map((question) => sampleGroup(policy, question, random, { size: 6, temperature: 1.2 }))
  const reference = copyPolicy(policy)
  for (let i = 0; i < policy.weights.length; i++) policy.weights[i] += 0.3 * random.normal()
  policy.changed()
  const advantages = advantagesOf(policy, groups, rule.advantage, rule.shaping)
  const examples = groups.flatMap((group, g) =>
    group.flatMap((answer, m): Example[] =>
      advantages[g][m] === null ? [] : [{ answer, advantage: advantages[g][m] }],
    ),
  )
  return { policy, examples, reference }
}

const clip = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
const rules: Record<string, LearningRule> = {
  'ppo with entropy': {
    advantage: { name: 'grpo' },
    loss: clip,
    aggregation: { mode: 'token-mean' },
    entropy: 0.1,
    exactEntropy: 0.2,
  },
  grpo: presetRule('grpo').rule,
  gspo: presetRule('gspo').rule,
  sapo: presetRule('sapo').rule,
  rloo: presetRule('rloo').rule,
  maxrl: presetRule('maxrl').rule,
  kimi: presetRule('kimi').rule,
}

test.each(Object.entries(rules))('the gradient of %s agrees with finite differences', (_, rule) => {
  const { policy, examples, reference } = staleExamples(rule)
  examples.push({ answer: examples[0].answer, imitation: 0.5 })
  const value = (): number => lossGradient(policy, examples, rule, reference).value
  const { gradient, lowestRatio, highestRatio } = lossGradient(policy, examples, rule, reference)
  expect(norm(gradient)).toBeGreaterThan(1e-3)
  expect(lowestRatio).toBeLessThan(0.9)
  expect(highestRatio).toBeGreaterThan(1.1)
  expect(distance(gradient, differences(policy, value)) / norm(gradient)).toBeLessThan(1e-4)
})

// Its divergence is in the reward of each token.
const refused = 'reinforce++'
const presets = (Object.keys(policyPresets) as PolicyPresetName[]).filter((name) => name !== refused)

test.each(presets)('the preset %s learns', (name) => {
  const { policy, train } = smallTask()
  const before = exactValues(policy).passAt1
  const settings = presetRule(name)
  const { aggregation } = settings.rule
  const learningRate = aggregation.mode === 'constant' ? aggregation.length : 1
  reinforce(policy, { ...settings, questions: train, steps: 100, learningRate, seed: 1 })
  expect(exactValues(policy).passAt1).toBeGreaterThan(before + 0.05)
})

test('a preset with parts that the tree lacks is refused', () => {
  expect(() => presetRule(refused)).toThrow(expect.objectContaining({ code: 'bad-config' }))
})

test('RL raises pass@1, measures agree with what happened, equal seeds give equal runs', () => {
  const run = (steps: number) => {
    const { policy, train } = smallTask()
    const settings = { rule: plainRule, questions: train, steps, learningRate: 2, seed: 5, cosine: true }
    const report = reinforce(policy, { ...settings, epochs: 2, minibatches: 2 })
    return { report, passAt1: exactValues(policy).passAt1 }
  }
  const long = run(60)
  expect(long.passAt1).toBeGreaterThan(0.8)
  expect(long.report.measures.cosine).toBeGreaterThan(0.3)
  expect(long.report.measures.highestRatio).toBeGreaterThan(1)
  expect(long.report.answers).toBe(60 * 64)
  expect(run(60)).toEqual(long)
})

test('resampling replaces zero-variance groups and counts its answers; a budget of answers ends the run', () => {
  const { policy, train } = smallTask()
  const settings = { rule: plainRule, questions: train, steps: 50, learningRate: 0, seed: 1, groupSize: 2 }
  const plain = reinforce(policy, settings)
  const replaced = reinforce(policy, { ...settings, resampling: 3 })
  expect(replaced.answers).toBeGreaterThan(plain.answers)
  expect(reinforce(policy, { ...settings, answers: 100 }).answers).toBe(112)
})

test('an answer to one question becomes an answer to another with the ratio between both', () => {
  const { policy } = chainTask({ seed: 1, trainDepths: [2], count: 2 })
  const [answer] = sampleGroup(policy, 0, createRandom(1), { size: 1 })
  const moved = asAnswerTo(policy, answer, 1)
  expect(moved.tokens).toEqual(answer.tokens)
  expect(moved.logprobs).toEqual(answer.logprobs)
  const example = { answer: moved, advantage: 1 }
  const { highestRatio, lowestRatio } = lossGradient(policy, [example], plainRule)
  const ratios = answerOf(policy, 1, answer.tokens).logprobs.map((value, t) =>
    Math.exp(value - answer.logprobs[t]),
  )
  expect(highestRatio).toBeCloseTo(Math.max(...ratios), 10)
  expect(lowestRatio).toBeCloseTo(Math.min(...ratios), 10)
})
