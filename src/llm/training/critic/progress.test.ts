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
import { optimisePolicy } from '../../algorithm/policy-optimisation/optimise-policy.ts'
import type { EpisodeGroup, LearningContext } from '../../algorithm/types.ts'
import type { Episode } from '../../episode/types.ts'
import { average } from '../../../statistics/statistics.ts'
import { createScalarModel } from '../../backend/scalar-model.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { progressAdvantage, trainProgressModel } from './progress.ts'

const turns = 2
const size = 12
// The environment gives no feedback and no rewards per turn. The final reward is the share of hits.
const environment = createKeysEnvironment({ rewarded: false, tells: false, succeeds: () => true })
const hits = ({ nodes, task }: Episode) =>
  nodes
    .flatMap(({ calls = [] }) => calls)
    .map(({ arguments: { key } }, turn) => Number(key === rightKey(task, turn)))

const unasked = () => Promise.reject(new Error('not needed'))
const context: LearningContext = { reference: unasked, trainer: unasked, demonstrations: [] }

async function play(policy: ModelBackend, name: string): Promise<EpisodeGroup[]> {
  const specs = keysSpecs(name, size)
  const episodes = await runEpisodes(specs, createKeysActor(policy, 9), environment, keysLimits(turns))
  return [0, size].map((at) => {
    const members = episodes.slice(at, at + size)
    return { episodes: members, rewards: members.map((episode) => average(hits(episode))) }
  })
}

test('an estimator that saw outcomes alone tells which turn brought them, and the policy learns from it', async () => {
  const policy = keysBackend(1)
  const model = createScalarModel({ config: keysModel, seed: 2, threads: 1 })
  const groups = (await Promise.all(Array.from({ length: 12 }, (_, i) => play(policy, `seen/${i}`)))).flat()
  const losses = await trainProgressModel({ model, groups, steps: 150, learningRate: 0.01 })
  expect(average(losses.slice(-10))).toBeLessThan(losses[0] / 10)

  const turnAdvantage = progressAdvantage({ model, beta: 0, std: false })
  const batch = await play(policy, 'asked')
  const { turnAdvantages } = await turnAdvantage(batch, context)
  // The contribution of a turn is the difference of returns. A hit is worth half of the reward; part of it is attributed to the
  // later turn, whose tokens see it too.
  const gains: Record<string, number[]> = { hit: [], miss: [] }
  batch.forEach(({ episodes }, g) =>
    episodes.forEach((episode, m) => {
      const [a, b] = turnAdvantages[g][m] as number[]
      const own = [a - b, b]
      hits(episode).forEach((hit, k) => gains[hit === 1 ? 'hit' : 'miss'].push(own[k]))
    }),
  )
  expect(average(gains['hit']) - average(gains['miss'])).toBeGreaterThan(0.3)

  const algorithm = optimisePolicy({
    advantage: progressAdvantage({ model, beta: 0, epsilon: 0.1 }),
    loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
    aggregation: { mode: 'token-mean' },
  })
  const curve: number[] = []
  for (let step = 0; step < 25; step++) {
    const played = await play(policy, `step/${step}`)
    curve.push(average(played.flatMap(({ rewards }) => rewards as number[])))
    const { sequences, loss } = await algorithm(played, context)
    if (sequences.length === 0) continue
    await forwardBackward(policy, sequences, loss)
    await policy.optimStep({ learningRate: 0.02 })
  }
  expect(average(curve.slice(0, 3))).toBeLessThan(0.4)
  expect(average(curve.slice(-3))).toBeGreaterThan(0.7)
  await Promise.all([policy.dispose(), model.dispose()])
})
