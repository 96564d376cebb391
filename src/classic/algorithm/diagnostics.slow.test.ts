import { expect, test } from 'vitest'
import { createVectorEnvironment, discrete } from '../environment/index.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import {
  diagnostic,
  type DiagnosticKind,
  diagnosticNames,
  type SkillName,
} from '../environments/diagnostic/diagnostics.ts'
import {
  doubleQLearning,
  expectedSarsa,
  nStepSarsa,
  qLambda,
  qLearning,
  sarsa,
  sarsaLambda,
} from '../tabular/temporal-difference.ts'
import { a2c } from './on-policy/a2c.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { c51 } from './action-values/c51.ts'
import { ddpg, td3 } from './actor-critic/td3.ts'
import { dqn } from './action-values/dqn.ts'
import { cmaEs, openAiEs } from './evolution/evolution.ts'
import { ppo } from './on-policy/ppo.ts'
import { pqn } from './on-policy/pqn.ts'
import { qrDqn } from './action-values/qr-dqn.ts'
import { reinforce } from './on-policy/reinforce.ts'
import { discreteSac } from './actor-critic/sac-discrete.ts'
import { sac } from './actor-critic/sac.ts'
import { plainValues } from './testing/small-learners.ts'

interface Candidate {
  algorithm: ClassicAlgorithm
  kinds: readonly DiagnosticKind[]
  numEnvs: number
  steps: number
  gamma: number
  /** Default: all of them. */
  diagnostics?: readonly SkillName[]
  /** The method needs discrete states, so that the same numbers are observed as such. */
  tabular?: boolean
}

const gamma = 0.8

/** Methods with a replay buffer: about 1000 gradient steps. */
const replayed = {
  bufferSize: 4096,
  batchSize: 64,
  learningStarts: 512,
  trainEvery: 2,
  gradientSteps: 1,
  gamma,
  tau: 0.1,
  hidden: [32],
  activation: 'tanh',
} as const
const soft = { actorLearningRate: 5e-3, criticLearningRate: 5e-3, temperature: 0.01 }
/** Methods that learn action values. */
const valued = {
  ...replayed,
  ...plainValues,
  maxGradientNorm: null,
  targetEvery: 2,
} as const
const switchedOn = {
  double: true,
  dueling: true,
  prioritised: { alpha: 0.6, beta: 0.4 },
  nSteps: 2,
} as const
const deterministic = { learningRate: 5e-3, policyDelay: 1, explorationNoise: 0.3 }

const ppoConfig = {
  rolloutSteps: 32,
  epochs: 4,
  minibatches: 2,
  learningRate: 1e-2,
  gamma,
  lambda: 0.9,
  clip: 0.2,
  clipValue: false,
  entropy: 0,
  valueWeight: 0.5,
  maxGradientNorm: 0.5,
  anneal: ['learningRate'],
  hidden: [16],
  activation: 'tanh',
} as const
const onRollouts = { kinds: ['discrete', 'continuous'], numEnvs: 8, steps: 6_144, gamma } as const

const reinforceConfig = {
  episodes: 32,
  baseline: true,
  normaliseAdvantages: false,
  learningRate: 2e-2,
  gamma,
  entropy: 0,
  valueWeight: 0.5,
  hidden: [16],
  activation: 'tanh',
} as const

/** Tabular methods. */
const table = { gamma, stepSize: 0.2, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 0.5 }
const onTables = { kinds: ['discrete'], numEnvs: 4, steps: 4000, gamma, tabular: true } as const
/** Methods that search for a policy only. */
const searched = {
  kinds: ['discrete', 'continuous'],
  numEnvs: 16,
  steps: 6400,
  gamma,
  diagnostics: ['policy', 'observed-policy'],
} as const

/**
 * Small networks and high learning rates, so that each takes a second. Algorithms without `values` are tested on
 * their actions only.
 */
const candidates: Record<string, Candidate> = {
  ppo: { ...onRollouts, algorithm: ppo(ppoConfig) },
  'ppo with a KL penalty': {
    ...onRollouts,
    steps: 10_240,
    algorithm: ppo({ ...ppoConfig, klPenalty: { beta: 0.2, target: 0.01 } }),
  },
  'ppo, recurrent': {
    ...onRollouts,
    algorithm: ppo({ ...ppoConfig, encoder: { kind: 'gru', size: 8, sequence: 8 } }),
    // A recurrent policy distinguishes the third step, which never comes, from the second: see below.
    diagnostics: diagnosticNames.filter((name) => name !== 'truncated-value'),
  },
  a2c: {
    kinds: ['discrete', 'continuous'],
    numEnvs: 16,
    steps: 32_768,
    gamma,
    algorithm: a2c({
      rolloutSteps: 8,
      optimiser: 'adam',
      learningRate: 1e-2,
      gamma,
      lambda: 0.9,
      entropy: 0,
      valueWeight: 0.5,
      maxGradientNorm: 0.5,
      normaliseAdvantages: false,
      anneal: true,
      hidden: [16],
      activation: 'tanh',
    }),
  },
  reinforce: {
    kinds: ['discrete'],
    numEnvs: 8,
    steps: 8192,
    gamma,
    algorithm: reinforce(reinforceConfig),
  },
  // Beyond the bounds all actions have the same value. A policy that leaves them never returns.
  'reinforce, in small steps': {
    kinds: ['continuous'],
    numEnvs: 8,
    steps: 16_384,
    gamma,
    algorithm: reinforce({ ...reinforceConfig, episodes: 64, learningRate: 1e-2 }),
  },
  sac: {
    kinds: ['continuous'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: sac({ ...replayed, ...soft, actorEvery: 1 }),
  },
  'sac-discrete': {
    kinds: ['discrete'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: discreteSac({ ...replayed, ...soft, adamEpsilon: 1e-8, targetEvery: 1, targetEntropy: 0.5 }),
  },
  td3: {
    kinds: ['continuous'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: td3({ ...replayed, ...deterministic, critics: 2, targetNoise: 0.2, targetNoiseClip: 0.5 }),
  },
  ddpg: {
    kinds: ['continuous'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: ddpg({ ...replayed, ...deterministic }),
  },
  dqn: {
    kinds: ['discrete'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: dqn({ ...valued, loss: 'squared' }),
  },
  'dqn, double, dueling, prioritised, 2 steps': {
    kinds: ['discrete'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: dqn({ ...valued, ...switchedOn, loss: 'huber' }),
  },
  'dqn, noisy': {
    kinds: ['discrete'],
    numEnvs: 4,
    steps: 4096,
    gamma,
    algorithm: dqn({ ...valued, noisy: true, loss: 'squared' }),
  },
  c51: {
    kinds: ['discrete'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: c51({ ...valued, atoms: 25, low: -6, high: 6 }),
  },
  'qr-dqn': {
    kinds: ['discrete'],
    numEnvs: 4,
    steps: 2560,
    gamma,
    algorithm: qrDqn({ ...valued, quantiles: 8 }),
  },
  pqn: {
    kinds: ['discrete'],
    numEnvs: 8,
    steps: 10_240,
    gamma,
    algorithm: pqn({
      ...valued,
      rolloutSteps: 16,
      epochs: 4,
      minibatches: 2,
      anneal: true,
      lambda: 0.65,
    }),
  },
  'openai-es': {
    ...searched,
    algorithm: openAiEs({ sigma: 0.3, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' }),
  },
  'cma-es': {
    ...searched,
    numEnvs: 32,
    steps: 12_800,
    algorithm: cmaEs({ sigma: 0.5, hidden: [], activation: 'tanh' }),
  },
  'q-learning': { ...onTables, algorithm: qLearning(table) },
  'double-q-learning': { ...onTables, algorithm: doubleQLearning(table) },
  sarsa: { ...onTables, algorithm: sarsa(table) },
  'expected-sarsa': { ...onTables, algorithm: expectedSarsa(table) },
  'n-step-sarsa': { ...onTables, algorithm: nStepSarsa({ ...table, nSteps: 3 }) },
  'sarsa-lambda': { ...onTables, algorithm: sarsaLambda({ ...table, lambda: 0.8 }) },
  'q-lambda': { ...onTables, algorithm: qLambda({ ...table, lambda: 0.8 }) },
}

const rows = Object.entries(candidates).flatMap(([name, candidate]) =>
  candidate.kinds.flatMap((kind) =>
    (candidate.diagnostics ?? diagnosticNames).map((which) => ({ name, kind, which, candidate })),
  ),
)

test.each(rows)('$name, $kind actions: $which', async ({ candidate, kind, which }) => {
  const { definition, values, actions } = diagnostic(which, kind)
  const seen: EnvironmentDefinition =
    candidate.tabular === true ? { ...definition, observation: discrete(3, -1) } : definition
  const environment = createVectorEnvironment(seen, { numEnvs: candidate.numEnvs, seed: 1 })
  environment.reset()
  const first = new Set(environment.observations)
  const agent = await candidate.algorithm(environment, { seed: 1, totalSteps: candidate.steps })
  for (let step = 0; step < candidate.steps; step += candidate.numEnvs) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  for (const [observation, value] of values?.(candidate.gamma) ?? []) {
    if (agent.values === undefined) continue
    // Without a memory, every observation counts as the first of an episode.
    if (agent.memorySize !== undefined && !first.has(observation)) continue
    const found = new Float32Array(1)
    agent.values(Float32Array.of(observation), 1, found)
    expect(Math.abs(found[0] - value), `value of ${observation}: ${found[0]}, not ${value}`).toBeLessThan(0.1)
  }
  for (const [observation, action] of actions ?? []) {
    const found = new Float32Array(1)
    agent.predict(Float32Array.of(observation), 1, found)
    expect(Math.abs(found[0] - action), `action for ${observation}: ${found[0]}, not ${action}`).toBeLessThan(
      kind === 'discrete' ? 0.5 : 0.15,
    )
  }
  await agent.dispose()
})

test('recurrent PPO bootstraps episodes truncated at any step, with the memory at their end', async () => {
  const { algorithm, numEnvs, steps } = candidates['ppo, recurrent']
  const { definition, values } = diagnostic('truncated-value', 'discrete')
  const environment = createVectorEnvironment(definition, { numEnvs, seed: 1, maxSteps: Infinity })
  environment.reset()
  const agent = await algorithm(environment, { seed: 1, totalSteps: steps })
  const random = createRandom('cuts', 1)
  for (let step = 0; step < steps; step += numEnvs) {
    await agent.act()
    environment.step()
    for (let envIndex = 0; envIndex < numEnvs; envIndex++)
      if (random.next() < 0.4) environment.truncate(envIndex)
    await agent.learn()
  }
  const found = new Float32Array(1)
  agent.values?.(Float32Array.of(-1), 1, found)
  expect(Math.abs(found[0] - values!(gamma)[0][1])).toBeLessThan(0.2)
  await agent.dispose()
})
