import { expect, test } from 'vitest'
import { createLocalBackend } from '../backend/local-backend.ts'
import { smallConfig } from '../model/config.ts'
import { answerSequence, creditedSequence, imitationSequence, sampleAnswers } from './sample-answers.ts'

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
  const imitated = imitationSequence(answer, { weight: 0.25 })
  expect([...imitated.weights.ce]).toEqual([0, 0, 0.25, 0.25])
  expect([...imitated.weights.rl]).toEqual([0, 0, 0, 0])
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
