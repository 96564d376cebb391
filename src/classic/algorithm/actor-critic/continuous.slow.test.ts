import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import { pendulum } from '../../environments/control/pendulum.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { ddpg, td3, td3Presets } from './td3.ts'
import { sac, sacPresets } from './sac.ts'

const small = {
  hidden: [64, 64],
  activation: 'relu',
  batchSize: 64,
  bufferSize: 10_000,
  learningStarts: 400,
  trainEvery: 4,
  gradientSteps: 2,
  gamma: 0.98,
  tau: 0.02,
} as const

const { critics: _, targetNoise: __, targetNoiseClip: ___, ...ddpgSettings } = td3Presets['sb3-zoo-pendulum']

const algorithms: Record<string, ClassicAlgorithm> = {
  sac: sac({
    ...sacPresets['sb3-zoo-pendulum'],
    ...small,
    actorLearningRate: 3e-3,
    criticLearningRate: 3e-3,
  }),
  td3: td3({ ...td3Presets['sb3-zoo-pendulum'], ...small, learningRate: 3e-3 }),
  ddpg: ddpg({ ...ddpgSettings, ...small, policyDelay: 1, learningRate: 3e-3 }),
}

/** Mean return of a policy over one episode in each of 20 environments. */
function play(predict: (observations: Float32Array, rows: number, actions: Float32Array) => void): number {
  const environment = createVectorEnvironment(pendulum, { numEnvs: 20, seed: 100 })
  environment.reset()
  for (let t = 0; t < 200; t++) {
    predict(environment.observations, 20, environment.actions)
    environment.step()
  }
  return environment.returns.reduce((a, b) => a + b, 0) / 20
}

test.each(Object.keys(algorithms))('%s swings the pendulum up', async (name) => {
  const numEnvs = 4
  const steps = 5000
  const environment = createVectorEnvironment(pendulum, { numEnvs, seed: 1 })
  environment.reset()
  const agent = await algorithms[name](environment, { seed: 1, totalSteps: steps })
  const before = play((observations, rows, actions) => agent.predict(observations, rows, actions))
  for (let step = 0; step < steps; step += numEnvs) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  const after = play((observations, rows, actions) => agent.predict(observations, rows, actions))
  await agent.dispose()
  expect(before).toBeLessThan(-900)
  expect(after).toBeGreaterThan(before + 400)
})

test('continuous methods refuse environments with discrete actions', async () => {
  const environment = createVectorEnvironment(cartPole, { numEnvs: 1 })
  await expect(algorithms['sac'](environment, { seed: 1, totalSteps: 1 })).rejects.toMatchObject({
    code: 'unsupported-space',
  })
})
