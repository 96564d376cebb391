import { expect, test } from 'vitest'
import { a2c } from '../algorithm/on-policy/a2c.ts'
import { discreteSac } from '../algorithm/actor-critic/sac-discrete.ts'
import { dqn } from '../algorithm/action-values/dqn.ts'
import { openAiEs } from '../algorithm/evolution/evolution.ts'
import { ppo, type PpoConfig } from '../algorithm/on-policy/ppo.ts'
import { pqn } from '../algorithm/on-policy/pqn.ts'
import { reinforce } from '../algorithm/on-policy/reinforce.ts'
import { sac } from '../algorithm/actor-critic/sac.ts'
import { td3 } from '../algorithm/actor-critic/td3.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import { box, defineEnvironment, discrete } from '../environment/index.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import { memoryDiagnostic } from '../environments/diagnostic/diagnostics.ts'
import { trainClassic } from './train-classic.ts'
import { plainValues } from '../algorithm/testing/small-learners.ts'

/** Mean return of the greedy policy after training. */
async function learned(
  definition: EnvironmentDefinition,
  algorithm: ClassicAlgorithm,
  { numEnvs, steps }: { numEnvs: number; steps: number },
): Promise<number> {
  const evaluate = { every: 0, episodes: 100 }
  const { summary, agent } = await trainClassic({ definition, algorithm, numEnvs, steps, seed: 1, evaluate })
  await agent.dispose()
  return summary.return.mean
}

const hidden = [16]
const activation = 'tanh'
const gamma = 0.9

const ppoConfig: PpoConfig = {
  rolloutSteps: 16,
  epochs: 4,
  minibatches: 2,
  learningRate: 1e-2,
  gamma,
  lambda: 0.9,
  clip: 0.2,
  clipValue: false,
  entropy: 0.01,
  valueWeight: 0.5,
  maxGradientNorm: 0.5,
  anneal: ['learningRate'],
  hidden,
  activation,
}
const replayed = {
  bufferSize: 4096,
  batchSize: 64,
  learningStarts: 256,
  trainEvery: 4,
  gradientSteps: 1,
  gamma,
  tau: 0.1,
  hidden,
  activation,
} as const
const soft = { actorLearningRate: 5e-3, criticLearningRate: 5e-3, temperature: 0.01 }
const valued = {
  ...replayed,
  ...plainValues,
  maxGradientNorm: 10,
  targetEvery: 4,
} as const

const carried = { kind: 'gru', size: 16 } as const
const gru = { kind: 'gru', size: 16, window: 4 } as const
const transformer = { kind: 'transformer', size: 16, window: 4 } as const
const few = { numEnvs: 4, steps: 2048 }
const many = { numEnvs: 16, steps: 8192 }

/** The observation of the first step must be remembered for two more. */
const choice = memoryDiagnostic(3, 'discrete')
const aim = memoryDiagnostic(3, 'continuous')

test.each<[string, EnvironmentDefinition, ClassicAlgorithm, typeof few]>([
  ['ppo, state of a gru carried', choice, ppo({ ...ppoConfig, encoder: carried }), many],
  ['ppo, state of a gru carried, continuous', aim, ppo({ ...ppoConfig, encoder: carried }), many],
  ['ppo, gru over a window', choice, ppo({ ...ppoConfig, encoder: gru }), many],
  ['ppo, transformer', choice, ppo({ ...ppoConfig, encoder: transformer }), many],
  [
    'a2c, gru over a window',
    choice,
    a2c({
      rolloutSteps: 8,
      optimiser: 'adam',
      learningRate: 1e-2,
      gamma,
      lambda: 0.9,
      entropy: 0.01,
      valueWeight: 0.5,
      maxGradientNorm: 0.5,
      normaliseAdvantages: false,
      anneal: true,
      hidden,
      activation,
      encoder: gru,
    }),
    many,
  ],
  [
    'reinforce, gru over a window',
    choice,
    reinforce({
      episodes: 32,
      baseline: true,
      normaliseAdvantages: false,
      learningRate: 2e-2,
      gamma,
      entropy: 0,
      valueWeight: 0.5,
      hidden,
      activation,
      encoder: gru,
    }),
    { numEnvs: 8, steps: 6144 },
  ],
  ['dqn, gru over a window', choice, dqn({ ...valued, loss: 'squared', encoder: gru }), few],
  [
    'pqn, transformer',
    choice,
    pqn({
      ...valued,
      rolloutSteps: 16,
      epochs: 4,
      minibatches: 2,
      anneal: true,
      lambda: 0.65,
      encoder: transformer,
    }),
    { numEnvs: 8, steps: 6144 },
  ],
  ['sac, gru over a window', aim, sac({ ...replayed, ...soft, actorEvery: 1, encoder: gru }), few],
  [
    'discrete sac, gru over a window',
    choice,
    discreteSac({
      ...replayed,
      ...soft,
      adamEpsilon: 1e-8,
      targetEvery: 1,
      targetEntropy: 0.5,
      encoder: gru,
    }),
    few,
  ],
  [
    'td3, transformer',
    aim,
    td3({
      ...replayed,
      learningRate: 5e-3,
      policyDelay: 1,
      explorationNoise: 0.3,
      critics: 2,
      targetNoise: 0.2,
      targetNoiseClip: 0.5,
      encoder: transformer,
    }),
    few,
  ],
  [
    'openai-es, gru over a window',
    choice,
    openAiEs({ sigma: 0.2, learningRate: 0.1, weightDecay: 0, hidden: [], activation, encoder: gru }),
    { numEnvs: 32, steps: 9600 },
  ],
])('%s remembers an earlier observation', async (_, definition, algorithm, run) => {
  expect(await learned(definition, algorithm, run)).toBeGreaterThan(definition === choice ? 0.95 : -0.1)
})

test('the memory environment cannot be solved without memory', async () => {
  expect(await learned(choice, ppo(ppoConfig), many)).toBeLessThan(0.3)
  expect(await learned(aim, ppo(ppoConfig), many)).toBeLessThan(-0.8)
})

const side = 9

/**
 * An agent in one plane, a goal beside it in the other. The direction follows from neighbouring cells, not from
 * the position.
 */
const beside = defineEnvironment({
  name: 'beside',
  observation: box([2, side, side], 0, 1),
  action: discrete(4),
  context: {},
  stateSize: 3,
  reset({ state }, i, random) {
    state[3 * i] = 1 + random.integers(side - 2)
    state[3 * i + 1] = 1 + random.integers(side - 2)
    state[3 * i + 2] = random.integers(4)
  },
  step({ state, actions, rewards, terminated }, i) {
    rewards[i] = actions[i] === state[3 * i + 2] ? 1 : 0
    terminated[i] = 1
  },
  observe({ state, observations }, i) {
    const first = i * 2 * side * side
    observations.fill(0, first, first + 2 * side * side)
    const [x, y, way] = state.subarray(3 * i, 3 * i + 3)
    observations[first + y * side + x] = 1
    observations[first + (side + y + [-1, 0, 1, 0][way]) * side + x + [0, 1, 0, -1][way]] = 1
  },
})

test('convolutions detect neighbouring cells, which a linear policy cannot', async () => {
  const linear = { ...ppoConfig, hidden: [] }
  const run = { numEnvs: 16, steps: 12_288 }
  const layers = [{ channels: 16, kernel: 3 }]
  expect(await learned(beside, ppo({ ...linear, encoder: { kind: 'cnn', layers } }), run)).toBeGreaterThan(
    0.85,
  )
  expect(await learned(beside, ppo(linear), run)).toBeLessThan(0.6)
})
