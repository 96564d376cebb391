import { expect, test } from 'vitest'
import { average } from '../../../statistics/statistics.ts'
import { createScalarModel } from '../../backend/scalar-model.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { answerSequence, sampleAnswers } from '../../rollout/sample-answers.ts'
import type { SampledAnswer } from '../../rollout/sample-answers.ts'
import {
  end,
  liking,
  promptOf,
  tinyBackend,
  tinyModel,
  vocabulary,
} from '../preference/testing/liked-tokens.ts'
import { tokenAdvantages, trainTokenPpo } from './token-ppo.ts'

const prompts = Array.from({ length: 8 }, (_, i) => promptOf(i))

/** Four answers to each prompt, scored by `reward`. */
function collector(
  policy: ModelBackend,
  reward: (answer: SampledAnswer) => number | null,
  { maxTokens, stop }: { maxTokens: number; stop: number[] },
) {
  return async (step: number) => {
    const sampling = { name: `ppo/${step}`, groupSize: 4, maxTokens, stop, seed: 1 }
    const answers = (await sampleAnswers(policy, prompts, sampling)).flat()
    return answers.map((answer) => ({ sequence: answerSequence(answer), reward: reward(answer) }))
  }
}

test('a reward that never changes becomes the value of every state', async () => {
  const policy = tinyBackend(1)
  const critic = createScalarModel({ config: tinyModel, seed: 2, threads: 1 })
  const before = policy.parameters.data.slice()
  const steps = await trainTokenPpo({
    policy,
    critic,
    steps: 40,
    criticWarmup: 40,
    learningRate: 0.02,
    lambda: 1,
    collect: collector(policy, () => 0.7, { maxTokens: 5, stop: [end] }),
  })
  expect(policy.parameters.data).toEqual(before)
  expect(steps[0].valueLoss).toBeCloseTo(0.245, 2)
  expect(steps.at(-1)!.valueLoss).toBeLessThan(0.002)
  const [values] = await critic.values([Int32Array.of(0, 2, 9, 4)])
  for (const value of values.subarray(1)) expect(Math.abs(value - 0.7)).toBeLessThan(0.05)
  await policy.dispose()
  await critic.dispose()
})

test('the critic learns values that are known', async () => {
  const policy = tinyBackend(1)
  const critic = createScalarModel({ config: tinyModel, seed: 2, threads: 1 })
  const good = (token: number): boolean => token >= 10
  const steps = await trainTokenPpo({
    policy,
    critic,
    steps: 80,
    criticWarmup: 80,
    learningRate: 0.02,
    lambda: 1,
    // Two tokens. The first decides: before it the value is the probability of a good one, after it the reward.
    collect: collector(policy, ({ tokens }) => Number(good(tokens[0])), { maxTokens: 2, stop: [] }),
  })
  const first = await policy.forward(
    Array.from({ length: vocabulary }, (_, token) => Int32Array.of(0, 2, token)),
  )
  const chance = first.reduce((sum, row, token) => sum + (good(token) ? Math.exp(row[2]) : 0), 0)
  const values = await critic.values([Int32Array.of(0, 2, 12), Int32Array.of(0, 2, 6)])
  expect(Math.abs(values[0][1] - chance)).toBeLessThan(0.12)
  expect(values[0][2]).toBeGreaterThan(0.85)
  expect(values[1][2]).toBeLessThan(0.15)
  expect(steps.at(-1)!.explainedVariance).toBeGreaterThan(0.4)
  await policy.dispose()
  await critic.dispose()
})

test('PPO with a critic raises the reward and stays near the reference', async () => {
  const gains = []
  for (const seed of [1, 2, 3]) {
    const policy = tinyBackend(seed)
    const reference = tinyBackend(seed)
    const critic = createScalarModel({ config: tinyModel, parameters: policy.parameters, threads: 1 })
    const steps = await trainTokenPpo({
      policy,
      critic,
      reference,
      klCoefficient: 0.01,
      steps: 25,
      learningRate: 0.015,
      collect: collector(policy, ({ prompt, tokens }) => liking(prompt, tokens), {
        maxTokens: 5,
        stop: [end],
      }),
    })
    expect(steps[0].kl).toBeCloseTo(0, 5)
    expect(steps.at(-1)!.kl).toBeGreaterThan(0.01)
    gains.push(average(steps.slice(-4).map(({ reward }) => reward)) - steps[0].reward)
    await Promise.all([policy.dispose(), reference.dispose(), critic.dispose()])
  }
  expect(Math.min(...gains)).toBeGreaterThan(0.2)
})

test('advantages go to the tokens that the policy chose, as GAE worked by hand', () => {
  const sequence = {
    tokens: Int32Array.of(0, 5, 6, 7),
    logprobs: Float32Array.of(0, -1, 0, -2),
    advantages: new Float32Array(4),
    weights: { rl: Float32Array.of(0, 1, 0, 1), ce: new Float32Array(4), kl: new Float32Array(4) },
  }
  // Values 0.5 before token 5 and 0.25 before token 7. The tokens in between are not steps.
  const values = [Float32Array.of(0.5, 9, 0.25, 9)]
  const [row] = tokenAdvantages([{ sequence, reward: 1 }], values, { gamma: 1, lambda: 0.5 })
  expect(row.states).toEqual([0, 2])
  // Deltas: 0.25 - 0.5 and 1 - 0.25; advantages 0.125 and 0.75; returns with the values added.
  expect([...row.returns]).toEqual([0.625, 1])
  expect(row.sequence.advantages[1]).toBeCloseTo(-1, 4)
  expect(row.sequence.advantages[3]).toBeCloseTo(1, 4)
  expect([...row.sequence.weights.rl]).toEqual([0, 0.5, 0, 0.5])
})

test('mistakes are errors', async () => {
  const policy = tinyBackend(1)
  const critic = createScalarModel({ config: tinyModel, threads: 1 })
  const collect = collector(policy, () => null, { maxTokens: 2, stop: [] })
  const options = { policy, critic, steps: 1, learningRate: 0.01, collect }
  await expect(trainTokenPpo(options)).rejects.toThrow(/could be judged/)
  await expect(trainTokenPpo({ ...options, klCoefficient: 0.1 })).rejects.toThrow(/needs a reference policy/)
  await Promise.all([policy.dispose(), critic.dispose()])
})
