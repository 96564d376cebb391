import { expect, test } from 'vitest'
import { grpoAdvantages } from '../advantages/grpo.ts'
import { supervised, trainedTokens } from '../supervised.ts'
import { oneAnswer as episode } from '../testing/one-answer.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'
import { grpo } from './presets.ts'

const unasked = (): never => {
  throw new Error('nobody is asked')
}
const alone: LearningContext = { reference: unasked, trainer: unasked, demonstrations: [] }
const update = (groups: EpisodeGroup[]) =>
  grpo({ kl: 0, clipHigh: 0.28, aggregation: { mode: 'token-mean' } })(groups, alone)

test('grpo gives each episode the advantage it has in its own group and weights of the token mean', async () => {
  const { sequences, loss, metrics } = await update([
    { episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] },
    { episodes: [episode('c', 4), episode('d', 4)], rewards: [0.5, 0.5] },
  ])
  const [high, low] = grpoAdvantages([1, 0])
  // The group without signal is not computed, but its 6 tokens stay in the normaliser: 2 + 4 + 3 + 3.
  expect(sequences.length).toBe(2)
  expect(Array.from(sequences[0].weights.rl)).toEqual([0, 0, 0, 0, ...Array(2).fill(Math.fround(1 / 12))])
  expect(Array.from(sequences[1].advantages)).toEqual([0, 0, 0, 0, ...Array(4).fill(Math.fround(low))])
  expect(sequences[0].advantages[4]).toBeCloseTo(high)
  expect(loss).toEqual({ name: 'ppo', clipLow: 0.2, clipHigh: 0.28 })
  expect(metrics['groupsWithoutSignal']).toBe(0.5)
})

test('a masked member enters neither the advantages, nor the normaliser, nor the rows', async () => {
  const without = await update([{ episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] }])
  const masked = episode('m', 100, { status: 'masked', success: null })
  const beside = await update([
    { episodes: [episode('a', 3), masked, episode('b', 5)], rewards: [1, null, 0] },
  ])
  expect(beside.sequences).toEqual(without.sequences)
})

test('supervised weights are the mean over demonstrated tokens', () => {
  const shown = supervised([episode('a', 3), episode('b', 5)])
  const total = shown.sequences.reduce((sum, row) => sum + row.weights.ce.reduce((s, w) => s + w, 0), 0)
  expect(total).toBeCloseTo(1)
  expect(shown.sequences.every((row) => row.weights.rl.every((weight) => weight === 0))).toBe(true)
  expect(trainedTokens(episode('a', 3))).toBe(2)
})
