import { expect, test } from 'vitest'
import { createLocalBackend } from '../backend/local-backend.ts'
import { smallConfig } from '../model/config.ts'
import { tinyConfig } from '../testing/tiny-model.ts'
import {
  answerSequence,
  creditedSequence,
  imitationSequence,
  sampleAnswers,
  type SampledAnswer,
  segmentLevelAdvantages,
} from './sample-answers.ts'

const answer = { prompt: Int32Array.of(5, 6), tokens: Int32Array.of(7, 1), logprobs: Float32Array.of(-1, -2) }

test('answers become rows whose prompt has no weight', () => {
  const row = answerSequence(answer)
  expect([...row.tokens]).toEqual([5, 6, 7, 1])
  expect([...row.logprobs]).toEqual([0, 0, -1, -2])
  expect([...row.weights.rl]).toEqual([0, 0, 1, 1])
  const credited = creditedSequence(answer, { advantage: [3, 4], weight: 0.5 })
  expect([...credited.advantages]).toEqual([0, 0, 3, 4])
  expect([...credited.weights.rl]).toEqual([0, 0, 0.5, 0.5])
  expect([...creditedSequence(answer, { advantage: 2, weight: 1 }).advantages]).toEqual([0, 0, 2, 2])
  const cloned = imitationSequence(answer, { weight: 0.25 })
  expect([...cloned.weights.ce]).toEqual([0, 0, 0.25, 0.25])
  expect([...cloned.weights.rl]).toEqual([0, 0, 0, 0])
})

test('groups of answers are drawn by name, the same again', async () => {
  const size = { vocab_size: 12, hidden_size: 16, num_hidden_layers: 1, intermediate_size: 16 }
  const backend = createLocalBackend({ config: { ...smallConfig, ...size }, threads: 1 })
  const settings = { groupSize: 3, maxTokens: 5, stop: [1], seed: 1 }
  const prompts = [Int32Array.of(2), Int32Array.of(3, 4)]
  const groups = await sampleAnswers(backend, prompts, { ...settings, name: 'a' })
  expect(groups.map((group) => group.length)).toEqual([3, 3])
  expect(groups[1].every(({ prompt }) => prompt === prompts[1])).toBe(true)
  expect(groups[0][0].tokens).not.toEqual(groups[0][1].tokens)
  const tokens = (of: typeof groups) => of.flat().map((each) => [...each.tokens])
  expect(tokens(await sampleAnswers(backend, prompts, { ...settings, name: 'a' }))).toEqual(tokens(groups))
  expect(tokens(await sampleAnswers(backend, prompts, { ...settings, name: 'b' }))).not.toEqual(
    tokens(groups),
  )
  await backend.dispose()
})

const prompts = Array.from({ length: 6 }, (_, i) => Int32Array.of(1, 2 + (i % 2)))
const common = { maxTokens: 3, stop: [], seed: 4 }
/** Three tokens, of which the second decides. */
const good = ({ tokens }: SampledAnswer) => Number(tokens[1] >= 32)
const score = (items: readonly SampledAnswer[]) => items.map(good)
const policyOf = (seed: number) => createLocalBackend({ config: tinyConfig, seed, threads: 1 })
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

test('the deciding token gets the advantage, later tokens get none, and the sum is the gain', async () => {
  const policy = policyOf(1)
  const answers = (await sampleAnswers(policy, prompts, { ...common, name: 'a', groupSize: 2 })).flat()
  const settings = { ...common, name: 'v', score, continuations: 24, probability: 1, decisions: 1 }
  const advantages = await segmentLevelAdvantages(policy, answers, settings)
  for (const [i, advantage] of advantages.entries()) {
    const outcome = good(answers[i])
    expect(advantage!.length).toBe(3)
    // From the third token on the outcome is fixed; the second decides it.
    expect(advantage![2]).toBe(0)
    expect(Math.sign(advantage![1])).toBe(outcome === 1 ? 1 : -1)
    expect(Math.abs(advantage![0])).toBeLessThan(0.45)
    const start = outcome - advantage!.reduce((sum, value) => sum + value, 0)
    expect(start).toBeGreaterThan(0.1)
    expect(start).toBeLessThan(0.9)
  }
  const one = await segmentLevelAdvantages(policy, answers, { ...settings, decisions: 9 })
  // A single segment is the whole answer.
  for (const advantage of one) expect(new Set(advantage).size).toBe(1)
  const unjudged = await segmentLevelAdvantages(policy, answers.slice(0, 2), {
    ...settings,
    score: (items) => items.map((item, i) => (i === 1 ? null : good(item))),
  })
  expect(unjudged.map((advantage) => advantage === null)).toEqual([false, true])
  await policy.dispose()
})

test('a policy learns from advantages by segments', async () => {
  const policy = policyOf(2)
  const curve: number[] = []
  for (let step = 0; step < 20; step++) {
    const answers = (
      await sampleAnswers(policy, prompts, { ...common, name: `a/${step}`, groupSize: 2 })
    ).flat()
    curve.push(mean(answers.map(good)))
    const advantages = await segmentLevelAdvantages(policy, answers, {
      ...common,
      name: `v/${step}`,
      score,
      continuations: 4,
      probability: 1,
      decisions: 1,
    })
    const rows = answers.map((answer, i) =>
      creditedSequence(answer, { advantage: advantages[i]!, weight: 1 / answers.length }),
    )
    await policy.forwardBackward(rows, { name: 'importance_sampling' })
    await policy.optimStep({ learningRate: 0.01 })
  }
  expect(mean(curve.slice(-4)) - mean(curve.slice(0, 4))).toBeGreaterThan(0.3)
  await policy.dispose()
})
