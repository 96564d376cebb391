import { expect, test } from 'vitest'
import { box, createVectorEnvironment, defineEnvironment, discrete } from '../../environment/index.ts'
import { discreteSac, type DiscreteSacConfig } from './sac-discrete.ts'

/**
 * Of three choices the second pays most, but is only allowed if the observation is 1. The third is the best of the
 * others.
 */
const masked = defineEnvironment({
  name: 'masked',
  observation: box([1], -1, 1),
  action: discrete(3),
  context: {
    best: { default: 2, low: 1, high: 3, about: 'what the choice pays that is not always allowed' },
  },
  stateSize: 1,
  maxSteps: 5,
  reset({ state }, i, random) {
    state[i] = random.integers(2) === 0 ? -1 : 1
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    rewards[i] = actions[i] === 1 ? context.best[i] : actions[i] === 2 ? 1 : 0
    terminated[i] = 0
    state[i] = random.integers(2) === 0 ? -1 : 1
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
  mask({ state, actionMask }, i) {
    actionMask.fill(1, i * 3, i * 3 + 3)
    actionMask[i * 3 + 1] = state[i] === 1 ? 1 : 0
  },
})

const settings: DiscreteSacConfig = {
  bufferSize: 256,
  batchSize: 32,
  learningStarts: 64,
  trainEvery: 4,
  gradientSteps: 1,
  gamma: 0.5,
  actorLearningRate: 1e-2,
  criticLearningRate: 1e-2,
  adamEpsilon: 1e-8,
  targetEvery: 1,
  tau: 0.1,
  temperature: { auto: true, start: 0.1 },
  targetEntropy: 0.2,
  hidden: [16],
  activation: 'tanh',
}
const algorithm = discreteSac(settings)

async function make() {
  const environment = createVectorEnvironment(masked, { numEnvs: 4, seed: 1 })
  environment.reset()
  return { environment, agent: await algorithm(environment, { seed: 1, totalSteps: 1600 }) }
}

test('discrete SAC never takes a masked action, and learns the best allowed one', async () => {
  const { environment, agent } = await make()
  for (let t = 0; t < 400; t++) {
    await agent.act()
    for (let i = 0; i < 4; i++)
      expect(environment.actionMask[i * 3 + environment.actions[i]], `step ${t}`).toBe(1)
    environment.step()
    await agent.learn()
  }
  const actions = new Float32Array(2)
  agent.predict(Float32Array.of(-1, 1), 2, actions, Uint8Array.of(1, 0, 1, 1, 1, 1))
  expect([...actions]).toEqual([2, 1])
  await agent.dispose()
})

test('discrete SAC resumes exactly from its state', async () => {
  const run = async (interrupt: boolean) => {
    let { environment, agent } = await make()
    const metrics: unknown[] = []
    for (let t = 0; t < 100; t++) {
      if (interrupt && t === 83) {
        const saved = structuredClone([environment.state(), agent.state()] as const)
        await agent.dispose()
        ;({ environment, agent } = await make())
        environment.restore(saved[0])
        agent.restore(saved[1])
      }
      await agent.act()
      environment.step()
      metrics.push(await agent.learn())
    }
    await agent.dispose()
    return metrics
  }
  expect(await run(true)).toEqual(await run(false))
})

/** If the observation is 1, all nine choices are allowed; if it is -1, two. Each pays its number. */
const narrow = defineEnvironment({
  ...masked,
  name: 'narrow',
  action: discrete(9),
  step({ state, actions, rewards, terminated }, i, random) {
    rewards[i] = actions[i] / 8
    terminated[i] = 0
    state[i] = random.integers(2) === 0 ? -1 : 1
  },
  mask({ state, actionMask }, i) {
    actionMask.fill(state[i] === 1 ? 1 : 0, i * 9, i * 9 + 9)
    actionMask.fill(1, i * 9, i * 9 + 2)
  },
})

test('the target entropy is a share of the greatest entropy of the allowed actions in each state', async () => {
  const environment = createVectorEnvironment(narrow, { numEnvs: 4, seed: 1 })
  environment.reset()
  const agent = await discreteSac({
    ...settings,
    trainEvery: 1,
    temperature: { auto: true, start: 1 },
    targetEntropy: 0.7,
  })(environment, { seed: 1, totalSteps: 3600 })
  const entropies: number[] = []
  for (let t = 0; t < 900; t++) {
    await agent.act()
    environment.step()
    const metrics = await agent.learn()
    if (metrics !== undefined && t >= 600) entropies.push(metrics['entropy'])
  }
  await agent.dispose()
  const found = entropies.reduce((sum, value) => sum + value, 0) / entropies.length
  // A share of all nine would be 1.54 nats. These states allow 1.45 on average.
  const expected = (0.7 * (Math.log(2) + Math.log(9))) / 2
  expect(Math.abs(found - expected)).toBeLessThan(0.1)
})
