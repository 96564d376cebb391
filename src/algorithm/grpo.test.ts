import { expect, test } from 'vitest'
import { grpo, grpoAdvantages, supervised, trainedTokens } from './index.ts'
import { oneAnswer as episode } from './testing/one-answer.ts'

test('grpo gives each episode the advantage it has in its own group and weights of the token mean', () => {
  const update = grpo()([
    { episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] },
    { episodes: [episode('c', 4), episode('d', 4)], rewards: [0.5, 0.5] },
  ])
  const [high, low] = grpoAdvantages([1, 0])
  // The group without signal is not computed, but its 6 tokens stay in the normaliser: 2 + 4 + 3 + 3.
  expect(update.sequences.length).toBe(2)
  expect(Array.from(update.sequences[0].weights.rl)).toEqual([
    0,
    0,
    0,
    0,
    ...Array(2).fill(Math.fround(1 / 12)),
  ])
  expect(Array.from(update.sequences[1].advantages)).toEqual([0, 0, 0, 0, ...Array(4).fill(Math.fround(low))])
  expect(update.sequences[0].advantages[4]).toBeCloseTo(high)
  expect(update.loss).toEqual({ name: 'ppo', clipLow: 0.2, clipHigh: 0.28 })
  expect(update.metrics['groupsWithoutSignal']).toBe(0.5)
})

test('a masked member enters neither the advantages, nor the normaliser, nor the rows', () => {
  const alone = grpo()([{ episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] }])
  const masked = episode('m', 100, { status: 'masked', success: null })
  const beside = grpo()([{ episodes: [episode('a', 3), masked, episode('b', 5)], rewards: [1, null, 0] }])
  expect(beside.sequences).toEqual(alone.sequences)
})

test('supervised weights are the mean over demonstrated tokens', () => {
  const update = supervised([episode('a', 3), episode('b', 5)])
  const total = update.sequences.reduce((sum, row) => sum + row.weights.ce.reduce((s, w) => s + w, 0), 0)
  expect(total).toBeCloseTo(1)
  expect(update.sequences.every((row) => row.weights.rl.every((weight) => weight === 0))).toBe(true)
  expect(trainedTokens(episode('a', 3))).toBe(2)
})
