import { expect, test } from 'vitest'
import { mean } from '../../../statistics/statistics.ts'
import { judgedPairs, trainOnline } from './online.ts'
import { dpo, simpo } from './pair-methods.ts'
import { end, liking, promptOf, tinyBackend } from './testing/liked-tokens.ts'

const prompts = Array.from({ length: 8 }, (_, i) => promptOf(i))
const sampling = { maxTokens: 6, stop: [end], seed: 1, groupSize: 4 }
const score = (answers: readonly { prompt: Int32Array; tokens: Int32Array }[]) =>
  answers.map(({ prompt, tokens }) => liking(prompt, tokens))

test('online DPO raises the reward of what the policy says', async () => {
  const gains = []
  for (const seed of [1, 2, 3]) {
    const backend = tinyBackend(seed)
    const reference = tinyBackend(seed)
    const steps = await trainOnline({
      backend,
      reference,
      method: dpo({ beta: 0.3 }),
      steps: 25,
      learningRate: 0.02,
      collect: (step) =>
        judgedPairs(backend, prompts, { ...sampling, name: `online/${step}`, score, pairing: 'all' }),
    })
    gains.push(mean(steps.slice(-5).map(({ reward }) => reward)) - steps[0].reward)
    expect(steps.every(({ pairs, loss }) => pairs === 0 || loss > 0)).toBe(true)
    await backend.dispose()
    await reference.dispose()
  }
  expect(Math.min(...gains)).toBeGreaterThan(0.2)
})

test('where nothing differs nothing is learnt; a method without reference needs none', async () => {
  const backend = tinyBackend(1)
  const before = backend.parameters.data.slice()
  const collect = (step: number) =>
    judgedPairs(backend, prompts, { ...sampling, name: `${step}`, score: (all) => all.map(() => 1) })
  const steps = await trainOnline({ backend, method: simpo(), steps: 2, learningRate: 0.1, collect })
  expect(steps).toMatchObject([
    { pairs: 0, reward: 1, loss: 0 },
    { pairs: 0, reward: 1, loss: 0 },
  ])
  expect(backend.parameters.data).toEqual(before)
  await expect(trainOnline({ backend, method: dpo(), steps: 1, learningRate: 0.1, collect })).rejects.toThrow(
    /against a reference/,
  )
  await backend.dispose()
})
