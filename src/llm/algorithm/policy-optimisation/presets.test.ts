import { expect, test } from 'vitest'
import { grpoAdvantages } from '../advantages/grpo.ts'
import { supervised, trainedTokens } from '../losses/imitation.ts'
import { groups, oneAnswer as episode } from '../testing/policy-groups.ts'
import type { PolicySettings } from '../catalogue.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'
import { optimisePolicy } from './optimise-policy.ts'
import { findPolicyPreset, grpo, policyPresets } from './presets.ts'

const unasked = (): never => {
  throw new Error('nobody is asked')
}
const alone: LearningContext = { reference: unasked, trainer: unasked, demonstrations: [] }
const update = (groups: EpisodeGroup[]) =>
  grpo({ kl: 0, clipHigh: 0.28, aggregation: { mode: 'token-mean' } })(groups, alone)

test('grpo gives each episode its advantage within its group, with token-mean weights', async () => {
  const { sequences, loss, metrics } = await update([
    { episodes: [episode('a', 3), episode('b', 5)], rewards: [1, 0] },
    { episodes: [episode('c', 4), episode('d', 4)], rewards: [0.5, 0.5] },
  ])
  const [high, low] = grpoAdvantages([1, 0])
  // The zero-variance group is not computed, but its 6 tokens stay in the normaliser: 2 + 4 + 3 + 3.
  expect(sequences.length).toBe(2)
  expect(Array.from(sequences[0].weights.rl)).toEqual([0, 0, 0, 0, ...Array(2).fill(Math.fround(1 / 12))])
  expect(Array.from(sequences[1].advantages)).toEqual([0, 0, 0, 0, ...Array(4).fill(Math.fround(low))])
  expect(sequences[0].advantages[4]).toBeCloseTo(high)
  expect(loss).toEqual({ name: 'ppo', clipLow: 0.2, clipHigh: 0.28 })
  expect(metrics['groupsWithoutSignal']).toBe(0.5)
})

test('a masked member is not in the advantages, the normaliser or the rows', async () => {
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

test('the former name of grpo still works', () => {
  expect(findPolicyPreset('grpo-kl')).toBe(policyPresets.grpo)
  expect(Object.keys(policyPresets)).not.toContain('grpo-kl')
})

test('an unknown name is answered with all names', () => {
  expect(() => findPolicyPreset('gspoo')).toThrow(/no algorithm named "gspoo"/)
  expect(() => findPolicyPreset('gspoo')).toThrow(
    expect.objectContaining({ expected: expect.stringContaining('dr-grpo'), hint: 'Did you mean "gspo"?' }),
  )
})

test('remax without greedy answers fails and names the setting', async () => {
  const bare = groups.map(({ episodes, rewards }) => ({ episodes, rewards }))
  await expect(optimisePolicy(findPolicyPreset('remax').settings)(bare, alone)).rejects.toMatchObject({
    hint: expect.stringContaining('greedyBaseline'),
  })
})

test('maxrl counts shaped rewards below 0 as 0, and refuses a divergence in the reward at creation', async () => {
  const settings: PolicySettings = { ...policyPresets['grpo-damped'].settings, advantage: { name: 'maxrl' } }
  // Of the second group the mean is then -1/3.
  const softOverlong = { limit: 4, cache: 3 }
  const { sequences } = await optimisePolicy({ ...settings, shaping: { softOverlong } })(groups, alone)
  expect(sequences.length).toBeGreaterThan(0)
  for (const { advantages } of sequences) expect(advantages.every(Number.isFinite)).toBe(true)
  const kl = { place: 'reward', estimator: 'k1', coefficient: 0.1 } as const
  expect(() => optimisePolicy({ ...settings, kl })).toThrow(/maxrl/)
  expect(() => optimisePolicy({ ...settings, kl: { ...kl, place: 'loss' } })).not.toThrow()
})
