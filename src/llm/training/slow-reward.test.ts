import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { grpo } from '../algorithm/policy-optimisation/presets.ts'
import type { EpisodeGroup, LearningContext, PolicyUpdate } from '../algorithm/types.ts'
import { readEpisodes } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { recordedScore } from '../reward/reward.ts'
import type { GroupReward } from '../reward/reward.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { datasetRows } from './datasets/datasets.ts'
import { trainJob } from './loop.ts'
import { boxJob } from './testing/box-job.ts'
import type { TrainJobOptions } from './types.ts'

let root: string
beforeAll(() => (root = mkdtempSync(join(tmpdir(), 'agoge-slow-reward-'))))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const learn = grpo({ kl: 0, clipHigh: 0.28, aggregation: { mode: 'token-mean' } })

function job(path: string): TrainJobOptions {
  const { plan, ...options } = boxJob(path)
  return {
    ...options,
    plan: {
      ...plan,
      demonstrations: { get: 8, put: 8 },
      warmStart: { ...plan.warmStart, epochs: 1 },
      // With zero-variance groups replaced, the rewards of a batch are read more than once.
      reinforcement: {
        ...plan.reinforcement,
        groups: 2,
        groupSize: 4,
        steps: 4,
        resampling: 1,
        greedyBaseline: true,
      },
      tasks: { validation: 2, test: 2, unseenParaphrases: 0 },
      checkpointEvery: 3,
    },
  }
}

const weights = (path: string): Buffer => {
  const final = join(path, 'checkpoints', 'final')
  return readFileSync(join(final, 'model.safetensors'))
}

test('a slow reward is asked once an episode: by advantages, record, data set, and by a process that resumes', async () => {
  const calls = new Map<string, number>()
  // Gives a different score each time, so a repeated request would change the weights.
  const moody = async ({ id, samples }: Episode): Promise<number> => {
    calls.set(id, (calls.get(id) ?? 0) + 1)
    await new Promise(setImmediate)
    const logprobs = samples.flatMap((sample) => [...sample.logprobs]).reduce((a, b) => a + b, 0)
    return id.startsWith('rl/0') || id.startsWith('rl/1') ? Math.random() : logprobs
  }
  const [whole, stopped] = [join(root, 'whole'), join(root, 'stopped')]
  await trainJob(
    { ...job(whole), reward: moody },
    {
      onEvent(event) {
        // As after a power failure in the third step, before the first checkpoint of RL.
        if (event.type === 'step' && event.phase === 'rl' && event.step === 2)
          cpSync(whole, stopped, { recursive: true })
      },
    },
  )
  expect(new Set(calls.values())).toEqual(new Set([1]))
  const episodes = readEpisodes(join(whole, 'episodes.jsonl')).filter(({ id }) => id.startsWith('rl/'))
  expect(episodes.length).toBeGreaterThan(8)
  const never = (): never => {
    throw new Error('it has its score')
  }
  expect(episodes.every((episode) => recordedScore(episode)?.value != null)).toBe(true)
  datasetRows(episodes, { kind: 'grpo', run: 'whole', reward: never })

  calls.clear()
  await trainJob({ ...job(stopped), reward: moody, resume: true })
  expect([...calls.keys()].filter((id) => /^rl\/[01]/.test(id))).toEqual([])
  expect(weights(stopped).equals(weights(whole))).toBe(true)
})

test('unscored episodes are counted and enter no gradient, and the run stops if none is scored', async () => {
  const contexts: LearningContext[] = []
  const learnt: { groups: readonly EpisodeGroup[]; update: PolicyUpdate }[] = []
  const folder = join(root, 'unscored')
  const options = job(folder)
  const half = ({ id, samples }: Episode) =>
    Promise.resolve(/[02]$/.test(id) ? null : samples.flatMap(({ logprobs }) => [...logprobs])[0])
  await trainJob({
    ...options,
    plan: {
      ...options.plan,
      reinforcement: { ...options.plan.reinforcement, resampling: 0, greedyBaseline: false },
    },
    reward: half,
    algorithm: async (groups, context) => {
      contexts.push(context)
      const update = await learn(groups, context)
      learnt.push({ groups, update })
      return update
    },
  })
  // Without them the updates are bit-identical.
  const trained = ({ sequences }: PolicyUpdate) =>
    sequences.filter(({ weights, advantages }) =>
      weights.rl.some((weight, t) => weight * advantages[t] !== 0),
    )
  for (const { groups, update } of learnt) {
    const scored = groups.map(({ episodes, rewards }) => ({
      episodes: episodes.filter((_, i) => rewards[i] !== null),
      rewards: rewards.filter((reward) => reward !== null),
    }))
    expect(scored.map(({ rewards }) => rewards.length)).toEqual([2, 2])
    expect(trained(update)).toEqual(trained(await learn(scored, contexts.shift()!)))
  }
  const { metrics } = openRunFolder({ path: folder })
    .lines('metrics.jsonl')
    .map((line) => JSON.parse(line) as { phase: string; metrics: Record<string, number> })
    .find(({ phase }) => phase === 'rl')!
  expect(metrics['unscored']).toBe(4)
  const nothing = trainJob({
    ...job(join(root, 'nothing')),
    reward: () => ({ value: null, reason: 'no judge' }),
  })
  await expect(nothing).rejects.toMatchObject({ code: 'reward-broken', given: 'no judge' })
})

test('a group reward is called once per group, including the greedy episode, and training uses its ranks', async () => {
  const sizes: number[] = []
  const longest: GroupReward = {
    scoreGroup(episodes) {
      sizes.push(episodes.length)
      const ranked = episodes.map(({ usage }) => usage.sampledTokens).toSorted((a, b) => a - b)
      return episodes.map(({ usage }) => ranked.indexOf(usage.sampledTokens))
    },
  }
  const groups: EpisodeGroup[] = []
  const options = job(join(root, 'ranked'))
  await trainJob({
    ...options,
    plan: { ...options.plan, reinforcement: { ...options.plan.reinforcement, resampling: 0 } },
    reward: longest,
    algorithm: (given, context) => {
      groups.push(...given)
      return learn(given, context)
    },
  })
  expect(sizes).toEqual(Array.from({ length: 8 }, () => 5))
  for (const { episodes, rewards } of groups) {
    const order = rewards.map((_, i) => i).toSorted((a, b) => rewards[a]! - rewards[b]!)
    const lengths = order.map((i) => episodes[i].usage.sampledTokens)
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b))
  }
})
