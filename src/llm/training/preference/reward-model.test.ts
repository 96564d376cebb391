import { expect, test } from 'vitest'
import { createScalarModel } from '../../backend/scalar-model.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { bestOfCurve, bestOfGroups } from '../../rollout/sample-answers.ts'
import { answersOf } from './methods.ts'
import {
  type LabelledSteps,
  rewardScores,
  stepScores,
  trainProcessReward,
  trainRewardModel,
} from './reward-model.ts'
import { likedPairs, liking, tinyModel } from './testing/liked-tokens.ts'

const settings = { steps: 60, batch: 32, learningRate: 0.02, validateEvery: 20 }
const train = likedPairs(160, 1)
const validation = likedPairs(64, 2)

test('a reward model learns the preference, and its best of n is better', async () => {
  const model = createScalarModel({ config: tinyModel, seed: 1, threads: 1 })
  const { best, validations } = await trainRewardModel({
    model,
    examples: train,
    validation,
    centre: 0.01,
    ...settings,
  })
  expect(validations[0]).toMatchObject({ accuracy: 0, margin: 0 })
  expect(best.accuracy).toBeGreaterThan(0.85)

  const groups = Array.from({ length: 16 }, (_, i) =>
    likedPairs(4, 10 + i)
      .flatMap(answersOf)
      .filter(({ prompt }) => prompt[1] === 2),
  )
  const { chosen, scores } = await bestOfGroups(groups, (answers) => rewardScores(model, answers))
  const outcomes = groups.map((group) => group.map(({ prompt, tokens }) => liking(prompt, tokens)))
  const curve = bestOfCurve(scores as number[][], outcomes)
  expect(curve).toHaveLength(4)
  expect(curve[3]).toBeGreaterThan(curve[0] + 0.15)
  const got = chosen.map((answer) => liking(answer!.prompt, answer!.tokens))
  expect(got.reduce((sum, value) => sum + value, 0) / 16).toBeCloseTo(curve[3], 5)
  expect((await bestOfGroups([groups[0]], (answers) => answers.map(() => null))).chosen).toEqual([null])
  await model.dispose()
})

/** A step has two words. It is good if the first is greater than the second. */
function stepped(count: number, seed: number): LabelledSteps[] {
  const random = createRandom('steps', seed)
  return Array.from({ length: count }, () => {
    const words = Array.from({ length: 6 }, () => 4 + random.int(16))
    const labels = [0, 2, 4].map((at) => Number(words[at] > words[at + 1]))
    return { prompt: Int32Array.of(0), tokens: Int32Array.from(words), ends: [1, 3, 5], labels }
  })
}

test('a process reward model tells good steps from bad ones', async () => {
  const model = createScalarModel({ config: tinyModel, seed: 2, threads: 1 })
  const held = stepped(48, 2)
  const schedule = { ...settings, steps: 150, learningRate: 0.03, validateEvery: 50 }
  const { best } = await trainProcessReward({
    model,
    examples: stepped(256, 1),
    validation: held,
    ...schedule,
  })
  expect(best.accuracy).toBeGreaterThan(0.8)
  const scores = (await stepScores(model, held)).flat()
  const labels = held.flatMap((each) => each.labels)
  expect(scores.filter((score, i) => score > 0.5 === labels[i] > 0.5).length / scores.length).toBe(
    best.accuracy,
  )
  const wrong = { ...held[0], ends: [1, 9, 5] }
  await expect(
    trainProcessReward({ model, examples: [wrong], validation: held, ...schedule }),
  ).rejects.toThrow(/are invalid/)
  await model.dispose()
})
