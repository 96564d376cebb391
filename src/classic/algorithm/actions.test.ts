import { expect, test } from 'vitest'
import { box, createVectorEnvironment, defineEnvironment } from '../environment/index.ts'
import { cartPole } from '../environments/control/cart-pole.ts'
import { pendulum } from '../environments/control/pendulum.ts'
import { a2c, a2cPresets } from './on-policy/a2c.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { openAiEs } from './evolution/evolution.ts'
import { classicAlgorithms } from '../algorithms.ts'
import { ppo, ppoPresets } from './on-policy/ppo.ts'
import { reinforce, reinforcePresets } from './on-policy/reinforce.ts'

/** Two pushes within narrow bounds, which a fresh policy leaves all the time. Other actions are an error. */
const low = [0.1, -0.3]
const high = [0.2, -0.2]
const narrow = defineEnvironment({
  name: 'narrow',
  observation: box([1], -1, 1),
  action: box([2], low, high),
  context: {},
  stateSize: 1,
  maxSteps: 5,
  reset({ state }, i, random) {
    state[i] = random.uniform(-1, 1)
  },
  step({ actions, rewards }, i) {
    rewards[i] = actions[2 * i] + actions[2 * i + 1]
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
})
const within = (actions: Float32Array): boolean =>
  actions.every((a, k) => a >= Math.fround(low[k % 2]) && a <= Math.fround(high[k % 2]))

const short = { rolloutSteps: 8, minibatches: 2, hidden: [4] }
const unclipped: Record<string, ClassicAlgorithm> = {
  ppo: ppo({ ...ppoPresets.cleanrl, ...short }),
  'recurrent ppo': ppo({ ...ppoPresets.cleanrl, ...short, encoder: { kind: 'gru', size: 4 } }),
  a2c: a2c({ ...a2cPresets['sb3-zoo-cartpole'], hidden: [4] }),
  reinforce: reinforce({ ...reinforcePresets.baseline, episodes: 100, hidden: [4] }),
  'openai-es': openAiEs({ sigma: 1, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' }),
}

test.each(Object.entries(unclipped))(
  '%s clips actions to the box for the environment, and learns from the unclipped sample',
  async (name, algorithm) => {
    const environment = createVectorEnvironment(narrow, { numEnvs: 4, seed: 1 })
    environment.reset()
    const agent = await algorithm(environment, { seed: 1, totalSteps: 1000 })
    for (let step = 0; step < 4; step++) {
      await agent.act()
      expect(within(environment.actions)).toBe(true)
      environment.step()
      await agent.learn()
    }
    expect(new Set(environment.actions).size).toBeGreaterThan(1)
    const chosen = new Float32Array(6)
    agent.predict(Float32Array.of(-1, 0, 1), 3, chosen)
    expect(within(chosen)).toBe(true)
    if (name === 'openai-es') return
    const { rollout, running } = agent.state() as {
      rollout?: { storage: { actions: Float32Array } }
      running?: { actions: number[] }[]
    }
    const drawn = Array.from(rollout?.storage.actions ?? running?.[0].actions ?? [])
    expect(drawn.some((action) => Math.abs(action) > 0.5)).toBe(true)
    await agent.dispose()
  },
)

test.each(Object.entries(classicAlgorithms))(
  '%s refuses environments with next-step autoreset',
  async (_, entry) => {
    const definition = entry.suits(cartPole) ? cartPole : pendulum
    const preset = Object.values(entry.presets)[0]
    const environment = createVectorEnvironment(definition, {
      numEnvs: preset.numEnvs,
      autoreset: 'next-step',
    })
    environment.reset()
    const made = entry.create(preset)(environment, { seed: 1, totalSteps: 1000 })
    await expect(made).rejects.toMatchObject({ code: 'bad-argument', expected: "autoreset: 'same-step'" })
  },
)

test.each(Object.entries(classicAlgorithms).filter(([, entry]) => entry.suits(pendulum)))(
  '%s refuses boxes of integers',
  async (_, entry) => {
    const preset = Object.values(entry.presets)[0]
    const definition = { ...pendulum, action: box([1], -2, 2, 'int32') }
    const environment = createVectorEnvironment(definition, { numEnvs: preset.numEnvs })
    environment.reset()
    const made = entry.create(preset)(environment, { seed: 1, totalSteps: 1000 })
    await expect(made).rejects.toMatchObject({ code: 'unsupported-space' })
  },
)
