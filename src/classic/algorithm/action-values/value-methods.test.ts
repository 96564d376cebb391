import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { constant, evaluateTensors } from '../../../engine/tensor/index.ts'
import { createVectorEnvironment, defineEnvironment, discrete } from '../../environment/index.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { pqn, pqnPresets } from '../on-policy/pqn.ts'
import { epsilonAt, greedy, ofAction, randomAction } from './action-values.ts'
import { c51, c51Presets, projectDistribution } from './c51.ts'
import { dqn, dqnPresets } from './dqn.ts'
import { qrDqn, qrDqnPresets, quantileHuberLoss } from './qr-dqn.ts'

function expectClose(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  expect(found.length).toBe(expected.length)
  for (let i = 0; i < expected.length; i++) expect(found[i]).toBeCloseTo(expected[i], 6)
}

// Expected values from the formulas of CleanRL's c51.py, with atoms -2 to 2.
test.each([
  { reward: 0.7, discount: 0.9, expected: [0.01, 0.13, 0.25, 0.27, 0.34] },
  { reward: 5, discount: 0.9, expected: [0, 0, 0, 0, 1] },
  { reward: 1, discount: 1, expected: [0, 0.1, 0.2, 0.3, 0.4] },
  { reward: -0.3, discount: 0, expected: [0, 0.3, 0.7, 0, 0] },
])('projectDistribution projects $reward + $discount z onto the atoms', ({ reward, discount, expected }) => {
  const to = new Float32Array(10).fill(7)
  projectDistribution([0.1, 0.2, 0.3, 0.15, 0.25], Float64Array.of(-2, -1, 0, 1, 2), reward, discount, to, 1)
  expectClose(to, [7, 7, 7, 7, 7, ...expected])
})

// Expected values from the formula of SB3-Contrib's quantile_huber_loss, summed over quantiles.
test('the quantile Huber loss equals that of SB3-Contrib', () => {
  const quantiles = constant([0, 1, 2.5, -1, 0.3, 0.4], [2, 3])
  const samples = constant([0.5, 3, -1, 0.2, -0.1, 2], [2, 3])
  const { loss } = evaluateTensors({ loss: quantileHuberLoss(quantiles, samples, 3) }, {})
  expectClose(loss.data, [1.090277778, 0.728055556])
})

test('ofAction selects the outputs of the action that was taken', () => {
  const all = constant([1, 2, 3, 4, 5, 6, 7, 8], [2, 4])
  const { taken } = evaluateTensors(
    { taken: ofAction(all, constant([6, 5], [2, 1]), { actions: 2, atoms: 2, start: 5 }) },
    {},
  )
  expectClose(taken.data, [3, 4, 5, 6])
})

test('greedy and random actions respect the mask', () => {
  const mask = Uint8Array.of(1, 1, 1, 1, 0, 1)
  expect(greedy([0, 3, 3, 1, 9, 2], 0, 3, mask)).toBe(1)
  expect(greedy([0, 3, 3, 1, 9, 2], 1, 3, mask)).toBe(2)
  expect(greedy([0, 3, 3, 1, 9, 2], 1, 3, undefined)).toBe(1)
  expect(() => greedy([0, NaN, NaN, 1], 1, 2, undefined)).toThrow(
    expect.objectContaining({ code: 'not-finite', given: { envIndex: 1, field: 'values[0]', value: 'NaN' } }),
  )
  expect(() => greedy([NaN], 0, 1, undefined, 'replayed transition')).toThrow(
    /of replayed transition 0 is NaN/,
  )
  const random = createRandom('mask')
  const drawn = Array.from({ length: 50 }, () => randomAction(random, 1, 3, mask))
  expect([...new Set(drawn)].toSorted((a, b) => a - b)).toEqual([0, 2])
})

test('epsilon falls linearly, then stays constant', () => {
  const schedule = { epsilonStart: 1, epsilonEnd: 0.2, explorationFraction: 0.5 }
  expect([0, 25, 50, 100].map((seen) => epsilonAt(schedule, seen, 100))).toEqual([
    1,
    0.6,
    expect.closeTo(0.2),
    expect.closeTo(0.2),
  ])
})

const quick = {
  hidden: [16],
  learningRate: 1e-2,
  gamma: 0.9,
  bufferSize: 500,
  batchSize: 16,
  learningStarts: 32,
  trainEvery: 4,
  gradientSteps: 1,
  targetEvery: 40,
  explorationFraction: 0.5,
}
const everything = {
  double: true,
  dueling: true,
  noisy: true,
  prioritised: { alpha: 0.6, beta: 0.4 },
  nSteps: 3,
} as const
const methods: Record<string, ClassicAlgorithm> = {
  dqn: dqn({ ...dqnPresets.cleanrl, ...quick }),
  'dqn with everything': dqn({ ...dqnPresets['sb3-zoo-cartpole'], ...quick, ...everything }),
  c51: c51({ ...c51Presets.cleanrl, ...quick, atoms: 11, low: -5, high: 5, double: true }),
  'qr-dqn': qrDqn({ ...qrDqnPresets['sb3-zoo-cartpole'], ...quick, quantiles: 5, dueling: true }),
  pqn: pqn({ ...pqnPresets.cleanrl, ...quick, rolloutSteps: 8 }),
}

/**
 * Two alternating states. Action 0 pays -1, action 1 pays 0. Action 2 would pay 1, but is masked in state 1, where
 * it fails the test.
 */
const forbidden = defineEnvironment({
  name: 'forbidden',
  observation: discrete(2),
  action: discrete(3, 1),
  context: {},
  stateSize: 1,
  maxSteps: 3,
  reset({ state }, i, random) {
    state[i] = random.integers(2)
  },
  step({ state, actions, rewards, terminated }, i) {
    if (state[i] === 1 && actions[i] === 3) throw new Error('a masked action was taken')
    rewards[i] = actions[i] - 2
    terminated[i] = 0
    state[i] = 1 - state[i]
  },
  observe({ state, observations }, i) {
    observations[i] = state[i]
  },
  mask({ state, actionMask }, i) {
    actionMask.set([1, 1, state[i] === 1 ? 0 : 1], i * 3)
  },
})

async function run(algorithm: ClassicAlgorithm, steps: number) {
  const environment = createVectorEnvironment(forbidden, { numEnvs: 2, seed: 1 })
  environment.reset()
  const agent = await algorithm(environment, { seed: 1, totalSteps: steps })
  const go = async (count: number): Promise<void> => {
    for (let k = 0; k < count; k += 2) {
      await agent.act()
      environment.step()
      await agent.learn()
    }
  }
  return { environment, agent, go }
}

test.each(Object.entries(methods))(
  '%s: masked actions are never taken nor maximised over',
  async (_, algorithm) => {
    const { agent, go } = await run(algorithm, 2000)
    await go(2000)
    const actions = new Float32Array(2)
    agent.predict(Float32Array.of(0, 1), 2, actions, Uint8Array.of(1, 1, 1, 1, 1, 0))
    expect([...actions]).toEqual([3, 2])
    // Reward 1 in every other step, truncation bootstrapped: 1 / (1 - 0.81) = 5.26. With the masked action, the
    // value would approach 10.
    const value = new Float32Array(1)
    agent.values!(Float32Array.of(0), 1, value)
    expect(value[0]).toBeGreaterThan(4)
    expect(value[0]).toBeLessThan(6.2)
    await agent.dispose()
  },
)

test.each(Object.entries(methods))(
  '%s: a restored run repeats the first bit for bit',
  async (_, algorithm) => {
    const first = await run(algorithm, 400)
    await first.go(150)
    const saved = structuredClone({ agent: first.agent.state(), environment: first.environment.state() })
    await first.go(90)
    const second = await run(algorithm, 400)
    await second.go(30)
    second.agent.restore(saved.agent)
    second.environment.restore(saved.environment)
    await second.go(90)
    expect(second.agent.state()).toEqual(first.agent.state())
    await first.agent.dispose()
    await second.agent.dispose()
  },
)

test('action-value methods refuse actions that are not discrete', async () => {
  const environment = createVectorEnvironment({ ...cartPole, action: cartPole.observation }, { numEnvs: 1 })
  await expect(methods['dqn'](environment, { seed: 1, totalSteps: 1 })).rejects.toMatchObject({
    code: 'unsupported-space',
  })
})

test('DQN improves on CartPole', async () => {
  const environment = createVectorEnvironment(cartPole, { numEnvs: 4, seed: 1 })
  environment.reset()
  const steps = 12_000
  const agent = await dqn({
    ...dqnPresets.cleanrl,
    hidden: [64],
    learningRate: 2e-3,
    batchSize: 64,
    learningStarts: 200,
    trainEvery: 4,
    targetEvery: 100,
    explorationFraction: 0.3,
    double: true,
    nSteps: 3,
  })(environment, { seed: 1, totalSteps: steps })
  const lengths: number[] = []
  for (let k = 0; k < steps; k += 4) {
    await agent.act()
    environment.step()
    await agent.learn()
    for (let envIndex = 0; envIndex < 4; envIndex++)
      if (environment.terminated[envIndex] + environment.truncated[envIndex] > 0)
        lengths.push(environment.lengths[envIndex])
  }
  const meanOf = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length
  expect(meanOf(lengths.slice(0, 20))).toBeLessThan(40)
  expect(meanOf(lengths.slice(-10))).toBeGreaterThan(100)
  await agent.dispose()
})
