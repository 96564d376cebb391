import { expect, test } from 'vitest'
import { dqn, dqnPresets } from '../algorithm/action-values/dqn.ts'
import { ppo, ppoPresets } from '../algorithm/on-policy/ppo.ts'
import { qLearning, tabularPresets } from '../tabular/temporal-difference.ts'
import {
  createVectorEnvironment,
  frameStack,
  normaliseObservations,
  recordEpisodes,
  timeLimit,
} from '../environment/index.ts'
import type { AnyVector, ArrayEpisode } from '../environment/index.ts'
import { acrobot } from '../environments/control/acrobot.ts'
import { cartPole } from '../environments/control/cart-pole.ts'
import { cliffWalking } from '../environments/toy-text/cliff-walking.ts'
import { frozenLake } from '../environments/toy-text/frozen-lake.ts'
import { evaluateAgent } from './evaluate-agent.ts'
import { learnUntil } from './learn-until.ts'
import { signs } from './testing/signs.ts'

const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
const small = { ...config, hidden: [8] }

test('an agent is evaluated behind the wrappers it was trained behind, with the statistics of training', async () => {
  const environment = normaliseObservations(createVectorEnvironment(cartPole, { numEnvs, seed: 1 }))
  environment.reset()
  const agent = await ppo(small)(environment, { seed: 1, totalSteps: 512 })
  await learnUntil(environment, agent, { steps: 512 })
  const statistics = environment.observationStatistics
  const { mean, variance } = statistics
  const before = [mean.slice(), variance.slice(), statistics.count.slice()]
  const { returns } = await evaluateAgent(agent, cartPole, {
    episodes: 5,
    wrap: (env) => normaliseObservations(env, { statistics }),
  })
  // The same, computed by hand.
  const byHand = {
    predict(observations: Float32Array, rows: number, actions: Float32Array) {
      const normal = observations.map((x, k) => (x - mean[k % 4]) / Math.sqrt(variance[k % 4] + 1e-8))
      agent.predict(normal, rows, actions)
    },
  }
  expect(returns).toEqual((await evaluateAgent(byHand, cartPole, { episodes: 5 })).returns)
  expect([mean, variance, statistics.count]).toEqual(before)
  const wrong = normaliseObservations(createVectorEnvironment(acrobot, { numEnvs: 1 }))
  expect(() => normaliseObservations(environment, { statistics: wrong.observationStatistics })).toThrow(
    expect.objectContaining({ code: 'shape-mismatch' }),
  )
  await agent.dispose()
})

test('time limits, frame stacks and recorders wrap objects too', async () => {
  const found: ArrayEpisode[] = []
  const wrap = (env: AnyVector) =>
    frameStack(
      recordEpisodes(timeLimit(env, 3), (e) => found.push(e)),
      2,
    )
  const seen: number[][] = []
  const agent = {
    predict(observations: Float32Array, rows: number, actions: Float32Array) {
      seen.push([...observations])
      actions.fill(1, 0, rows)
    },
  }
  const played = await evaluateAgent(agent, signs, { episodes: 2, wrap })
  expect([...played.lengths]).toEqual([3, 3])
  expect(played.cutOff).toBe(0)
  expect(new Set(found.map(({ rewards }) => rewards.reduce((a, b) => a + b)))).toEqual(
    new Set(played.returns),
  )
  expect(seen.map((row) => [row[1], row[3]])).toEqual(
    [0, 1].flatMap(() => [
      [0, 0],
      [0, 1],
      [1, 2],
    ]),
  )
})

test('an agent refuses observations of another shape', async () => {
  const make = async (definition: typeof cartPole | typeof frozenLake, algorithm: ReturnType<typeof ppo>) => {
    const environment = createVectorEnvironment(definition, { numEnvs, seed: 1 })
    environment.reset()
    return algorithm(environment, { seed: 1, totalSteps: 512 })
  }
  const { numEnvs: _, ...dqnConfig } = dqnPresets.cleanrl
  for (const algorithm of [
    ppo(small),
    ppo({ ...small, normalise: true }),
    ppo({ ...small, encoder: { kind: 'gru', size: 4 } }),
    dqn({ ...dqnConfig, hidden: [8], encoder: { kind: 'transformer', window: 2, size: 4 } }),
  ]) {
    const agent = await make(cartPole, algorithm)
    await expect(evaluateAgent(agent, acrobot, { episodes: 2 })).rejects.toMatchObject({
      code: 'shape-mismatch',
      given: '6 numbers a row',
      expected: '4 numbers a row',
    })
    await agent.dispose()
  }
  const walker = await make(frozenLake, ppo(small))
  await expect(evaluateAgent(walker, cliffWalking, { episodes: 2 })).rejects.toMatchObject({
    code: 'not-in-space',
    given: 36,
  })
  const { numEnvs: __, ...annealed } = tabularPresets.annealed
  const table = await make(frozenLake, qLearning(annealed))
  await expect(evaluateAgent(table, cliffWalking, { episodes: 2 })).rejects.toMatchObject({
    code: 'not-in-space',
    given: 36,
  })
})
