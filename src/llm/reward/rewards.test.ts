import { expect, test } from 'vitest'
import { score, scoreGroups } from './reward.ts'
import {
  compose,
  judgedReward,
  knownReward,
  rankReward,
  rubricReward,
  stepReward,
  taskReward,
} from './rewards.ts'
import { emptySample, episodeOf } from './testing/episode-of.ts'

const reward = taskReward({ success: 1, perCall: -0.02, perInvalidCall: -0.1, brokenOff: -0.2 })

test('the task reward names its parts, and they add up', async () => {
  expect(await score(reward, episodeOf())).toEqual({
    value: 1 - 0.06 - 0.1,
    parts: { success: 1, calls: -0.06, invalidCalls: -0.1, brokenOff: 0 },
  })
  const failed = await score(reward, episodeOf({ success: false, status: 'failed', ending: 'turn-limit' }))
  expect(failed.value).toBeCloseTo(-0.2)
})

test('masked and unjudged episodes have no reward, not a reward of zero', async () => {
  expect((await score(reward, episodeOf({ success: null }))).value).toBeNull()
  expect((await score(reward, episodeOf({ status: 'masked', success: true }))).value).toBeNull()
})

test('the score of a judge counts in full, where success alone would be 0', async () => {
  const partly = { success: false, rewards: [{ agent: 'agent', name: 'score', value: 0.4 }] }
  expect((await score(judgedReward(), episodeOf(partly))).value).toBe(0.4)
  expect((await score(judgedReward(), episodeOf())).value).toBe(1)
  expect((await score(judgedReward(), episodeOf({ success: null }))).value).toBeNull()
})

test('a composition is the weighted sum, unjudged where one part is, and asks no further', async () => {
  const both = compose({ task: () => 1, brevity: { weight: 0.5, reward: () => ({ value: -2, parts: {} }) } })
  const scored = await score(both, episodeOf())
  expect(scored).toEqual({ value: 0, parts: { task: 1, brevity: -1 } })
  // Part names are typed.
  const brevity: number | undefined = scored.value === null ? undefined : scored.parts.brevity
  expect(brevity).toBe(-1)
  let asked = 0
  const unjudged = compose({ judge: () => null, late: () => asked++ })
  expect((await score(unjudged, episodeOf())).value).toBeNull()
  expect(asked).toBe(0)
  expect(() => compose({})).toThrow(/at least one/)
})

test('a composition with a group reward is one', async () => {
  const relative = compose({
    task: () => 1,
    rank: { weight: 0.5, reward: rankReward(({ usage }) => -usage.sampledTokens) },
  })
  const group = [30, 10, 20].map((sampledTokens, i) =>
    episodeOf({ id: `${i}`, usage: { ...episodeOf().usage, sampledTokens } }),
  )
  expect(await scoreGroups(relative, [group])).toEqual([[1, 1.5, 1.25]])
})

test('ranks depend only on the order, ties share, unjudged episodes are left out', async () => {
  const values = [5, 5, -1000, null, 7]
  const group = values.map((_, i) => episodeOf({ id: `${i}` }))
  const ranks = await scoreGroups(
    rankReward((episode) => values[Number(episode.id)]),
    [group, [episodeOf({ id: '0' })]],
  )
  expect(ranks).toEqual([[0.5, 0.5, 0, null, 1], [0.5]])
})

test('a rubric gives its share of points, with negative criteria subtracted', async () => {
  const points = rubricReward({
    right: { weight: 3, meets: (e) => e.success },
    brief: { weight: 1, meets: (e) => Promise.resolve(1 / (1 + e.usage.calls)) },
    clumsy: { weight: -2, meets: (e) => e.usage.invalidCalls > 0 },
  })
  expect(await score(points, episodeOf())).toEqual({
    value: (3 + 0.25 - 2) / 4,
    parts: { right: 0.75, brief: 0.0625, clumsy: -0.5 },
  })
  expect((await score(points, episodeOf({ success: false }))).value).toBe(0)
  expect((await score(points, episodeOf({ success: null }))).value).toBe(null)
  expect(() => rubricReward({})).toThrow(/positive weight/)
  expect(() => rubricReward({ bad: { weight: -1, meets: () => true } })).toThrow(/positive weight/)
  const odd = rubricReward({ odd: { weight: 1, meets: () => 2 } })
  await expect(score(odd, episodeOf())).rejects.toThrow(/met by 2/)
})

test('a process reward makes one score of those of the steps', async () => {
  const scores = [0.5, 1, 0.8]
  const samples = [emptySample, emptySample, emptySample]
  const of = async (aggregate: 'product' | 'min' | 'mean' | 'last') =>
    (
      await score(
        stepReward((_, step) => scores[step], { aggregate }),
        episodeOf({ samples }),
      )
    ).value
  expect(await of('product')).toBeCloseTo(0.4)
  expect(await of('min')).toBe(0.5)
  expect(await of('mean')).toBeCloseTo(2.3 / 3)
  expect(await of('last')).toBe(0.8)
  const slow = stepReward((_, step) => Promise.resolve(scores[step]))
  expect((await score(slow, episodeOf({ samples }))).parts).toEqual({
    'step:0': 0.5,
    'step:1': 1,
    'step:2': 0.8,
  })
  const unsure = stepReward((_, step) => (step === 1 ? null : 1))
  expect((await score(unsure, episodeOf({ samples }))).value).toBe(null)
  expect((await score(slow, episodeOf())).value).toBe(null)
})

test('existing scores are looked up by episode id', async () => {
  const known = knownReward(new Map([['e', 0.3]]))
  expect((await score(known, episodeOf())).value).toBe(0.3)
  expect((await score(known, episodeOf({ id: 'other' }))).value).toBe(null)
})
