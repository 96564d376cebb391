import { expect, test } from 'vitest'
import { runEpisodes } from '../../agent/turn-loop.ts'
import {
  createKeysActor,
  createKeysEnvironment,
  keysBackend,
  keysLimits,
  keysModel,
  keysSpecs,
  rightKey,
} from '../../agent/testing/keys.ts'
import { average } from '../../../statistics/statistics.ts'
import { createScalarModel } from '../../backend/scalar-model.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import { trainArcher } from './archer.ts'
import { bySample, spoken } from './utterance-critic.ts'

// Two turns. The first decides; its reward comes after the second.
const environment = createKeysEnvironment({ rewarded: false, tells: false, succeeds: ([first]) => first })
const gamma = 0.5

const play =
  (policy: ModelBackend, size = 12) =>
  async (step: number) => {
    const specs = keysSpecs(`archer/${step}`, size)
    const episodes = await runEpisodes(specs, createKeysActor(policy, 5), environment, keysLimits(2))
    return [{ episodes, rewards: episodes.map(({ success }) => Number(success)) }]
  }
const twins = (): [ScalarModel, ScalarModel] => [
  createScalarModel({ config: keysModel, seed: 11, threads: 1 }),
  createScalarModel({ config: keysModel, seed: 12, threads: 1 }),
]

test('temporal differences carry a late reward to the first utterance', async () => {
  const policy = keysBackend(1)
  const before = policy.parameters.data.slice()
  const critics = twins()
  const steps = await trainArcher({
    policy,
    critics,
    steps: 60,
    criticWarmup: 60,
    learningRate: 0.01,
    gamma,
    collect: play(policy),
  })
  expect(policy.parameters.data).toEqual(before)
  expect(steps.at(-1)!.criticLoss).toBeLessThan(steps[0].criticLoss / 3)
  // Rows: task, speak, key, what the environment said, speak, key.
  const rows = [0, 1, 2, 3].map((key) => Int32Array.of(2, 1, 4 + key, 13, 1, 6))
  const right = rightKey('a', 0)
  const chance = (
    await policy.forward(Array.from({ length: 14 }, (_, token) => Int32Array.of(2, 1, token)))
  ).reduce((sum, row, token) => sum + (token % 4 === right ? Math.exp(row[2]) : 0), 0)
  for (const critic of critics) {
    const values = await critic.values(rows)
    values.forEach((value, key) => {
      const good = Number(key === right)
      // V of the first state, Q of the first key, V of the second state, Q of any second key.
      expect(Math.abs(value[1] - gamma * chance)).toBeLessThan(0.12)
      expect(Math.abs(value[2] - gamma * good)).toBeLessThan(0.12)
      expect(Math.abs(value[4] - good)).toBeLessThan(0.2)
      expect(Math.abs(value[5] - good)).toBeLessThan(0.2)
    })
  }
  await Promise.all([policy.dispose(), ...critics.map((critic) => critic.dispose())])
})

test('the policy stays fixed while the critics warm up, then its reward rises', async () => {
  const policy = keysBackend(2)
  const critics = twins()
  const curve = await trainArcher({
    policy,
    critics,
    steps: 50,
    criticWarmup: 15,
    learningRate: 0.01,
    final: 1,
    gamma,
    collect: play(policy),
  })
  expect(curve[14].gradientNorm).toBe(0)
  expect(curve[15].gradientNorm).toBeGreaterThan(0)
  expect(average(curve.slice(0, 15).map(({ reward }) => reward))).toBeLessThan(0.4)
  expect(average(curve.slice(-5).map(({ reward }) => reward))).toBeGreaterThan(0.75)
  await Promise.all([policy.dispose(), ...critics.map((critic) => critic.dispose())])
})

test('steps are rewarded by the environment, the last one by the outcome too; masked episodes are none', async () => {
  const policy = keysBackend(1)
  const paying = createKeysEnvironment({ rewarded: true, tells: true, succeeds: () => true })
  const [episode] = await runEpisodes(keysSpecs('x', 1), createKeysActor(policy, 3), paying, keysLimits(3))
  const hits = episode.nodes.filter(({ role }) => role === 'tool').map(({ text }) => Number(text === 'ping'))
  const { rows, steps } = spoken(episode, 10)!
  expect(rows.length).toBe(1)
  expect(steps.map(({ reward }) => reward)).toEqual([hits[0], hits[1], hits[2] + 10])
  expect(steps.map(({ before, last }) => [before, last])).toEqual([
    [1, 2],
    [4, 5],
    [7, 8],
  ])
  expect(spoken(episode, null)).toBe(null)
  const other = { ...episode.samples[1], trainable: false }
  const mixed = { ...episode, samples: [episode.samples[0], other, episode.samples[2]] }
  expect(bySample(mixed, [1, 2])).toEqual([1, 0, 2])
  expect(spoken(mixed, 10)!.steps.map(({ reward }) => reward)).toEqual([hits[0] + hits[1], hits[2] + 10])
  await policy.dispose()
})

test('a batch without judged episodes is an error', async () => {
  const policy = keysBackend(1)
  const critics = twins()
  const collect = async (step: number) =>
    (await play(policy, 1)(step)).map((group) => ({ ...group, rewards: group.rewards.map(() => null) }))
  await expect(trainArcher({ policy, critics, steps: 1, learningRate: 0.01, collect })).rejects.toMatchObject(
    {
      code: 'no-samples',
    },
  )
  await Promise.all([policy.dispose(), ...critics.map((critic) => critic.dispose())])
})
