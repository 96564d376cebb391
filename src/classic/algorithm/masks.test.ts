import { expect, test } from 'vitest'
import { createVectorEnvironment, defineEnvironment, discrete } from '../environment/index.ts'
import {
  doubleQLearning,
  nStepSarsa,
  qLambda,
  qLearning,
  sarsa,
  sarsaLambda,
} from '../tabular/temporal-difference.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { classicAlgorithms } from '../algorithms.ts'

/** The best choice is masked in every other state. Taking it there is an error. */
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

/** Starts learning earlier than the presets. */
const soon: Record<string, unknown> = { learningStarts: 40, batchSize: 16, bufferSize: 200, hidden: [8] }

const named = Object.entries(classicAlgorithms)
  .filter(([, entry]) => entry.suits(forbidden))
  .map(([name, entry]): [string, ClassicAlgorithm, number] => {
    const preset = Object.values(entry.presets)[0]
    const changed = Object.entries(soon).filter(([field]) => field in preset)
    return [name, entry.create({ ...preset, ...Object.fromEntries(changed) }), 4]
  })
const table = {
  stepSize: 0.2,
  gamma: 0.9,
  epsilonStart: 1,
  epsilonEnd: 0.1,
  explorationFraction: 0.5,
  initialValue: 0,
}
const ppoPreset = Object.values(classicAlgorithms['ppo'].presets)[0]
const others: [string, ClassicAlgorithm, number][] = [
  [
    'recurrent ppo',
    classicAlgorithms['ppo'].create({
      ...ppoPreset,
      rolloutSteps: 8,
      minibatches: 2,
      hidden: [8],
      encoder: { kind: 'gru', size: 4 },
    }),
    4,
  ],
  [
    'a transformer',
    classicAlgorithms['dqn'].create({
      ...classicAlgorithms['dqn'].presets['cleanrl'],
      ...soon,
      encoder: { kind: 'transformer', window: 2, size: 4 },
    }),
    4,
  ],
  ['q', qLearning(table), 1],
  ['double q', doubleQLearning(table), 1],
  ['sarsa', sarsa(table), 1],
  ['n-step sarsa', nStepSarsa({ ...table, nSteps: 2 }), 1],
  ['sarsa(lambda)', sarsaLambda({ ...table, lambda: 0.8 }), 1],
  ['q(lambda)', qLambda({ ...table, lambda: 0.8 }), 1],
]

/** Methods whose state value is the value of the best choice. */
const maximising = new Set(['dqn', 'c51', 'qr-dqn', 'pqn', 'q', 'double q', 'sarsa', 'q(lambda)'])

test.each([...named, ...others])('%s never takes a masked action', async (name, algorithm, numEnvs) => {
  const environment = createVectorEnvironment(forbidden, { numEnvs, seed: 1 })
  environment.reset()
  const agent = await algorithm(environment, { seed: 1, totalSteps: 600 })
  let all = 0
  for (let step = 0; step < 600; step += numEnvs) {
    await agent.act()
    for (const action of environment.actions) if (action === 3) all++
    // Throws if the action is masked.
    environment.step()
    await agent.learn()
  }
  // Actions that are allowed elsewhere are explored there.
  expect(all).toBeGreaterThan(0)
  const rows = 12
  const observations = Float32Array.from({ length: rows }, (_, r) => r % 2)
  const masks = Uint8Array.from({ length: rows * 3 }, (_, k) =>
    Math.floor(k / 3) % 2 === 1 && k % 3 === 2 ? 0 : 1,
  )
  const actions = new Float32Array(rows)
  agent.predict(observations, rows, actions, masks, new Float32Array(rows * (agent.memorySize ?? 0)))
  for (let r = 1; r < rows; r += 2) expect(actions[r]).not.toBe(3)
  // With one choice left, the action is certain.
  const last = Uint8Array.from({ length: rows * 3 }, (_, k) => (k % 3 === 1 ? 1 : 0))
  agent.predict(observations, rows, actions, last, new Float32Array(rows * (agent.memorySize ?? 0)))
  expect([...actions]).toEqual(Array(rows).fill(2))
  if (maximising.has(name)) {
    const valuesWith = (mask?: Uint8Array): Float32Array => {
      const values = new Float32Array(2)
      agent.values?.(observations.subarray(0, 2), 2, values, mask)
      return values
    }
    // The value is the highest of those that are found by allowing each of the allowed choices alone.
    const alone = [0, 1, 2].map((only) =>
      valuesWith(Uint8Array.from({ length: 6 }, (_, k) => (k % 3 === only ? 1 : 0))),
    )
    const most = (choices: number[], row: number) => Math.max(...choices.map((choice) => alone[choice][row]))
    expect([...valuesWith()]).toEqual([most([0, 1, 2], 0), most([0, 1, 2], 1)])
    expect([...valuesWith(Uint8Array.of(1, 1, 1, 1, 1, 0))]).toEqual([most([0, 1, 2], 0), most([0, 1], 1)])
    expect(new Set(alone.map(([value]) => value)).size).toBe(3)
  }
  await agent.dispose()
})
