import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../environment/index.ts'
import { cartPole } from '../environments/control/cart-pole.ts'
import type { Preset } from './agent.ts'
import { classicAlgorithms } from '../algorithms.ts'

const wrong: readonly [field: string, value: unknown][] = [
  ['rolloutSteps', 0],
  ['minibatches', 1.5],
  ['gamma', 2],
  ['lambda', -0.1],
  ['tau', NaN],
  ['learningRate', -1e-3],
  ['actorLearningRate', Infinity],
  ['criticLearningRate', '0.1'],
  ['batchSize', 0],
  ['bufferSize', -1],
  ['trainEvery', 0],
  ['gradientSteps', 0.5],
  ['nSteps', 0],
  ['stepSize', 2],
  ['atoms', 1],
  ['hidden', [64, 0]],
  ['hidden', 64],
  ['maxGradientNorm', -1],
  ['sigma', NaN],
]

test.each(Object.entries(classicAlgorithms))(
  '%s names the setting that is out of range',
  (_, { presets, ...algorithm }) => {
    const create = (config: Preset) => algorithm.create(config)
    const [preset] = Object.values(presets)
    const known = wrong.filter(([field]) => field in preset)
    expect(known.length).toBeGreaterThan(1)
    for (const [field, value] of known)
      expect(() => create({ ...preset, [field]: value })).toThrow(
        expect.objectContaining({
          code: 'bad-argument',
          message: expect.stringContaining(`The setting ${field} cannot be`),
          given: { [field]: value },
        }),
      )
    for (const each of Object.values(presets)) expect(() => create(each)).not.toThrow()
  },
)

test('settings that do not fit together are refused', async () => {
  const { c51, ppo, pqn } = classicAlgorithms
  expect(() => c51.create({ ...c51.presets['cleanrl'], low: 5, high: 5 })).toThrow(/low cannot be 5/)
  for (const [algorithm, more] of [
    [ppo, {}],
    [pqn, {}],
    [ppo, { encoder: { kind: 'gru', sequence: 1 } }],
  ] as const) {
    const config = { ...algorithm.presets['cleanrl'], ...more, rolloutSteps: 2, minibatches: 7 }
    const environment = createVectorEnvironment(cartPole, { numEnvs: 3 })
    await expect(algorithm.create(config)(environment, { seed: 1, totalSteps: 100 })).rejects.toThrow(
      /minibatches cannot be 7: it has to be at most the 6 (steps|sequences) of a rollout/,
    )
  }
})
