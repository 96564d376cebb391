import { expect, test } from 'vitest'
import { runEpisodes } from '../../agent/turn-loop.ts'
import {
  createKeysActor,
  createKeysEnvironment,
  keysBackend,
  keysLimits,
  keysSpecs,
} from '../../agent/testing/keys.ts'
import { decodeEpisode, encodeEpisode } from '../../episode/codec.ts'
import { turnRewards } from '../../episode/training-sequences.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { optimisePolicy } from './optimise-policy.ts'
import { turnReturnAdvantages } from '../advantages/turns.ts'
import type { AdvantageFunction } from '../types.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'
import type { PolicySettings } from '../catalogue.ts'

const turns = 3
const size = 8
const environment = createKeysEnvironment({
  rewarded: true,
  tells: true,
  succeeds: (hits) => hits.every(Boolean),
})
const base = {
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
  aggregation: { mode: 'token-mean' },
} as const

async function play(backend: ModelBackend, name: string): Promise<EpisodeGroup[]> {
  const episodes = await runEpisodes(
    keysSpecs(name, size),
    createKeysActor(backend, 7),
    environment,
    keysLimits(turns),
  )
  return [0, size].map((at) => {
    const members = episodes.slice(at, at + size)
    return { episodes: members, rewards: members.map(({ success }) => Number(success)) }
  })
}

const unasked = () => Promise.reject(new Error('not needed'))
const context: LearningContext = { reference: unasked, trainer: unasked, demonstrations: [] }
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const hits = (groups: readonly EpisodeGroup[]) =>
  groups.flatMap(({ episodes }) => episodes.map((episode) => turnRewards(episode)!))

/** Advantages by episode and turn in the rows, for groups in which every episode has a gradient. */
async function placed(groups: readonly EpisodeGroup[], advantage: PolicySettings['advantage']) {
  const backend = keysBackend(1)
  const settings = { ...base, advantage, entropy: 1e-9 }
  const { sequences, metrics } = await optimisePolicy(settings)(groups, context)
  await backend.dispose()
  const rows = sequences.map(({ advantages, weights }) =>
    Array.from(advantages.filter((_, t) => weights.rl[t] !== 0)),
  )
  return { rows, metrics }
}

const backend = keysBackend(1)
const groups = await play(backend, 'once')

test('the reward of a call is recorded with its turn', () => {
  const [episode] = groups[0].episodes
  expect(episode.rewards.map(({ sample, name }) => [sample, name])).toEqual([
    [0, 'step'],
    [1, 'step'],
    [2, 'step'],
  ])
  const expected = episode.nodes
    .filter(({ role }) => role === 'tool')
    .map(({ text }) => Number(text === 'ping'))
  expect(turnRewards(episode)).toEqual(expected)
  expect(turnRewards(decodeEpisode(encodeEpisode(episode)))).toEqual(expected)
  expect(turnRewards({ ...episode, rewards: [{ agent: 'a', sample: 1, name: 'x', value: null }] })).toBe(null)
})

test('a reward that is not a number ends the run and names itself', async () => {
  const broken = {
    ...environment,
    open: async (...args: Parameters<typeof environment.open>) => ({
      ...(await environment.open(...args)),
      call: () => Promise.resolve({ text: 'ping', isError: false, reward: Number.NaN }),
    }),
  }
  const played = runEpisodes(keysSpecs('bad', 1), createKeysActor(backend, 7), broken, keysLimits(turns))
  await expect(played).rejects.toMatchObject({
    code: 'bad-reward',
    message: expect.stringContaining('bad/a/0'),
  })
})

test('turn-level: a turn is compared with the same turn of the group', async () => {
  const { rows, metrics } = await placed(groups, { name: 'turn-level', std: false, weight: 0.5 })
  const all = hits(groups)
  expect(metrics['rewardedTurns']).toBeCloseTo(mean(all.flat()))
  rows.forEach((row, i) => {
    const siblings = all.slice(i < size ? 0 : size, i < size ? size : 2 * size)
    const outcome =
      groups[i < size ? 0 : 1].rewards[i % size]! - mean(groups[i < size ? 0 : 1].rewards as number[])
    const own = [0, 1].map((k) => all[i][k] - mean(siblings.map((other) => other[k])) + 0.5 * outcome)
    row.forEach((value, k) => expect(value).toBeCloseTo(k === turns - 1 ? outcome : own[k], 5))
  })
  expect(rows.length).toBe(2 * size)
})

test('turn-return counts later rewards, not earlier ones', async () => {
  const { rows } = await placed(groups, { name: 'turn-return', std: false, gamma: 0.5 })
  const returns = hits(groups).map(([a, b, c], i) => {
    const last = c + groups[i < size ? 0 : 1].rewards[i % size]!
    return [a + 0.5 * (b + 0.5 * last), b + 0.5 * last, last]
  })
  rows.forEach((row, i) => {
    const siblings = returns.slice(i < size ? 0 : size, i < size ? size : 2 * size)
    row.forEach((value, k) =>
      expect(value).toBeCloseTo(returns[i][k] - mean(siblings.map((other) => other[k])), 5),
    )
  })
})

test('turn-return by hand: shorter episodes, masked ones, no turns', () => {
  const members = [{ turns: [1, 0], outcome: 1 }, { turns: [0], outcome: 0 }, null, { turns: [], outcome: 5 }]
  expect(turnReturnAdvantages(members, { std: false })).toEqual([[1, 0], [-1], [], []])
  expect(turnReturnAdvantages([])).toEqual([])
})

test('step-group compares turns in equal states at any position', async () => {
  const settings = { name: 'step-group', std: false, gamma: 0.5, weight: 2 } as const
  const all = hits(groups)
  const returns = all.map(([a, b, c], i) => {
    const last = c + groups[i < size ? 0 : 1].rewards[i % size]!
    return [a + 0.5 * (b + 0.5 * last), b + 0.5 * last, last]
  })
  const totals = all.map((turns, i) => mean(turns) * 3 + groups[i < size ? 0 : 1].rewards[i % size]!)
  /** The last observation; for the first turn, the task. */
  const heard = (i: number, k: number) => (k === 0 ? 'task' : String(all[i][k - 1]))
  const { rows } = await placed(groups, settings)
  rows.forEach((row, i) => {
    const siblings = [...all.keys()].filter((other) => other < size === i < size)
    const episode = totals[i] - mean(siblings.map((other) => totals[other]))
    row.forEach((value, k) => {
      const same = siblings.flatMap((other) =>
        [0, 1, 2].flatMap((j) => (heard(other, j) === heard(i, k) ? [returns[other][j]] : [])),
      )
      expect(value).toBeCloseTo(episode + 2 * (returns[i][k] - mean(same)), 4)
    })
  })
  // By history, the first turn is equal for all, and later ones for episodes with the same presses.
  const byHistory = (await placed(groups, { ...settings, anchor: 'history' })).rows
  byHistory.forEach((row, i) => expect(row[0]).toBeCloseTo(rows[i][0], 5))
  expect(byHistory).not.toEqual(rows)
})

test('a custom function can give advantages to turns and to tokens', async () => {
  const own: AdvantageFunction = (given) => ({
    turnAdvantages: given.map(({ episodes }) =>
      episodes.map((_, m) => [m, Float32Array.of(99, -m), [0, m / 2]]),
    ),
    metrics: { asked: given.length },
  })
  const { rows, metrics } = await placed(groups, own)
  expect(rows.slice(0, size)).toEqual(Array.from({ length: size }, (_, m) => [m, m === 0 ? -0 : -m, m / 2]))
  expect(metrics['asked']).toBe(2)
  const whole = await placed(groups, (given) => ({
    turnAdvantages: given.map(({ episodes }) => episodes.map(() => 3)),
  }))
  expect(whole.rows[0]).toEqual([3, 3, 3])
  const wrong = (turnAdvantage: number[] | [number, number, number[]]) =>
    placed(groups, (given) => ({
      turnAdvantages: given.map(({ episodes }) => episodes.map(() => turnAdvantage)),
    }))
  await expect(wrong([1, 2])).rejects.toMatchObject({ code: 'shape-mismatch', given: 2 })
  await expect(wrong([1, 2, [3]])).rejects.toMatchObject({ code: 'shape-mismatch', given: 1 })
})

const kinds: Record<string, PolicySettings['advantage']> = {
  'turn-level': { name: 'turn-level', epsilon: 0.1 },
  'turn-return': { name: 'turn-return', epsilon: 0.1 },
  'step-group': { name: 'step-group', anchor: 'history', epsilon: 0.1 },
  // A hit gives 1, a miss -1.
  'of your own': (given) => ({
    turnAdvantages: given.map(({ episodes }) =>
      episodes.map((episode) => turnRewards(episode)!.map((hit) => 2 * hit - 1)),
    ),
  }),
}

test.each(Object.keys(kinds))('training with advantages %s finds the keys', async (kind) => {
  const policy = keysBackend(3)
  const algorithm = optimisePolicy({ ...base, advantage: kinds[kind] })
  const curve: number[] = []
  for (let step = 0; step < 30; step++) {
    const batch = await play(policy, `step/${step}`)
    curve.push(mean(hits(batch).flat()))
    const { sequences, loss } = await algorithm(batch, context)
    if (sequences.length === 0) continue
    await forwardBackward(policy, sequences, loss)
    await policy.optimStep({ learningRate: 0.02 })
  }
  await policy.dispose()
  expect(mean(curve.slice(0, 3))).toBeLessThan(0.4)
  expect(mean(curve.slice(-3))).toBeGreaterThan(0.6)
})
