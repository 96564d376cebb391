import { expect, test } from 'vitest'
import {
  box,
  checkEnvironment,
  createVectorEnvironment,
  defineEnvironment,
  multiBinary,
  multiDiscrete,
  vectorFrom,
} from '../environment/index.ts'
import type {
  ArraySpace,
  Environment,
  VectorEnvironment,
  EnvironmentDefinition,
} from '../environment/index.ts'
import { a2c, a2cPresets } from './on-policy/a2c.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { openAiEs } from './evolution/evolution.ts'
import { ppo, ppoPresets } from './on-policy/ppo.ts'
import { reinforce, reinforcePresets } from './on-policy/reinforce.ts'

/**
 * Shows a sign. The first of two choices (of three options) should be 0 or 2 after it; the second (of two options)
 * the other way round. With masks, the best first choice is forbidden, and the middle one is second best.
 */
const signs = (masked: boolean, action: ArraySpace = multiDiscrete([3, 2])): EnvironmentDefinition =>
  defineEnvironment({
    name: 'signs',
    observation: box([1], -1, 1),
    action,
    context: {},
    stateSize: 1,
    maxSteps: 1,
    reset({ state }, i, random) {
      state[i] = random.integers(2)
    },
    step({ state, actions, rewards, terminated }, i) {
      terminated[i] = 0
      const [first, second] = actions.subarray(2 * i, 2 * i + 2)
      if (masked && first === 2 * state[i]) throw new Error('a masked choice was taken')
      rewards[i] = 1 - Math.abs(first - 2 * state[i]) / 2 + (second === 1 - state[i] ? 1 : 0)
    },
    observe({ state, observations }, i) {
      observations[i] = 2 * state[i] - 1
    },
    ...(masked
      ? {
          mask({ state, actionMask }, i) {
            actionMask.set([state[i] === 0 ? 0 : 1, 1, state[i] === 1 ? 0 : 1, 1, 1], i * 5)
          },
        }
      : {}),
  })

const fast = { rolloutSteps: 8, minibatches: 2, learningRate: 1e-2, hidden: [16], entropy: 0 }
const candidates: Record<string, [ClassicAlgorithm, numEnvs: number, steps: number]> = {
  ppo: [ppo({ ...ppoPresets.cleanrl, ...fast }), 8, 3200],
  'recurrent ppo': [ppo({ ...ppoPresets.cleanrl, ...fast, encoder: { kind: 'gru', size: 4 } }), 8, 3200],
  a2c: [a2c({ ...a2cPresets['sb3-zoo-cartpole'], learningRate: 1e-2, hidden: [16] }), 8, 8000],
  reinforce: [reinforce({ ...reinforcePresets.baseline, episodes: 16, hidden: [16] }), 8, 8000],
  'openai-es': [
    openAiEs({ sigma: 0.5, learningRate: 0.2, weightDecay: 0, hidden: [], activation: 'tanh' }),
    32,
    16_000,
  ],
}

async function train(environment: VectorEnvironment, algorithm: ClassicAlgorithm, steps: number) {
  environment.reset()
  const agent = await algorithm(environment, { seed: 1, totalSteps: steps })
  for (let step = 0; step < steps; step += environment.rewards.length) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  return agent
}

const masks = Uint8Array.of(0, 1, 1, 1, 1, 1, 1, 0, 1, 1)

test.each(Object.entries(candidates))(
  '%s learns several choices at once, masked and not',
  async (_, [algorithm, numEnvs, steps]) => {
    const plain = createVectorEnvironment(signs(false), { numEnvs, seed: 1 })
    const agent = await train(plain, algorithm, steps)
    const chosen = new Float32Array(4)
    agent.predict(Float32Array.of(-1, 1), 2, chosen)
    expect([...chosen]).toEqual([0, 1, 2, 0])
    await agent.dispose()
    // The environment throws for a masked action.
    const masked = createVectorEnvironment(signs(true), { numEnvs, seed: 1 })
    expect(masked.actionMask.length).toBe(5 * numEnvs)
    const careful = await train(masked, algorithm, steps)
    careful.predict(Float32Array.of(-1, 1), 2, chosen, masks)
    expect([...chosen]).toEqual([1, 1, 1, 0])
    await careful.dispose()
  },
)

test('the learner gets the masks of a user’s own object', async () => {
  const make = (): Environment => {
    let sign = 0
    return {
      name: 'object of signs',
      observationSpace: box([1], -1, 1),
      actionSpace: multiDiscrete([3, 2]),
      reset() {
        sign = 1 - sign
        return { observation: Float32Array.of(2 * sign - 1) }
      },
      step(action) {
        const [first, second] = action as Int32Array
        if (first === 2 * sign) throw new Error('a masked choice was taken')
        const reward = 1 - Math.abs(first - 2 * sign) / 2 + (second === 1 - sign ? 1 : 0)
        return { observation: Float32Array.of(0), reward, terminated: true, truncated: false }
      },
      actionMask: () => [sign === 0 ? 0 : 1, 1, sign === 1 ? 0 : 1, 1, 1],
    }
  }
  const agent = await train(vectorFrom(make, 8), candidates['ppo'][0], 1600)
  const chosen = new Float32Array(4)
  agent.predict(Float32Array.of(-1, 1), 2, chosen, masks)
  expect([...chosen]).toEqual([1, 1, 1, 0])
  await agent.dispose()
})

test('the checker respects masks of multi-discrete actions, and a box has no mask', () => {
  checkEnvironment(signs(true))
  const bits = signs(true, multiBinary(2))
  expect(createVectorEnvironment({ ...bits, mask: () => {} }, { numEnvs: 3 }).actionMask.length).toBe(12)
  const boxed = { ...bits, action: box([2], 0, 1) }
  expect(() => createVectorEnvironment(boxed, { numEnvs: 1 })).toThrow(
    expect.objectContaining({ code: 'bad-argument', given: 'box' }),
  )
})
