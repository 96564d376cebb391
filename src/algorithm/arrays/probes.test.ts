import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { probe, probeNames } from '../../worlds/probes/index.ts'
import type { ProbeKind, ProbeName } from '../../worlds/probes/index.ts'
import { a2c } from './a2c.ts'
import type { ArrayAlgorithm } from './agent.ts'
import { c51 } from './c51.ts'
import { ddpg } from './ddpg.ts'
import { dqn } from './dqn.ts'
import { openAiEs } from './evolution.ts'
import { ppo } from './ppo.ts'
import { pqn } from './pqn.ts'
import { qrDqn } from './qr-dqn.ts'
import { reinforce } from './reinforce.ts'
import { discreteSac } from './sac-discrete.ts'
import { sac } from './sac.ts'
import { td3 } from './td3.ts'

interface Candidate {
  algorithm: ArrayAlgorithm
  kinds: readonly ProbeKind[]
  slots: number
  steps: number
  gamma: number
  /** Default: all of them. */
  probes?: readonly ProbeName[]
}

const gamma = 0.8

/** Of the learners from replayed transitions: about 1000 gradient steps. */
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
/** Of the learners of action values. */
const valued = {
  ...replayed,
  learningRate: 5e-3,
  adamEpsilon: 1e-8,
  maxGradientNorm: null,
  targetEvery: 2,
  epsilonStart: 1,
  epsilonEnd: 0.1,
  explorationFraction: 0.5,
  double: false,
  dueling: false,
  noisy: false,
  prioritised: false,
  nSteps: 1,
} as const
const switchedOn = {
  double: true,
  dueling: true,
  prioritised: { alpha: 0.6, beta: 0.4 },
  nSteps: 2,
} as const
const deterministic = { learningRate: 5e-3, policyDelay: 1, explorationNoise: 0.3 }

/** Small networks and high learning rates: each is done in a second. Algorithms without `values` have only their actions judged. */
const candidates: Record<string, Candidate> = {
  ppo: {
    kinds: ['discrete', 'continuous'],
    slots: 8,
    steps: 6_144,
    gamma,
    algorithm: ppo({
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
    }),
  },
  a2c: {
    kinds: ['discrete', 'continuous'],
    slots: 16,
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
    slots: 8,
    steps: 8192,
    gamma,
    algorithm: reinforce({
      episodes: 32,
      baseline: true,
      normaliseAdvantages: false,
      learningRate: 2e-2,
      gamma,
      entropy: 0,
      valueWeight: 0.5,
      hidden: [16],
      activation: 'tanh',
    }),
  },
  sac: {
    kinds: ['continuous'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: sac({ ...replayed, ...soft, actorEvery: 1 }),
  },
  'sac-discrete': {
    kinds: ['discrete'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: discreteSac({ ...replayed, ...soft, adamEpsilon: 1e-8, targetEvery: 1, targetEntropy: 0.5 }),
  },
  td3: {
    kinds: ['continuous'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: td3({ ...replayed, ...deterministic, critics: 2, targetNoise: 0.2, targetNoiseClip: 0.5 }),
  },
  ddpg: {
    kinds: ['continuous'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: ddpg({ ...replayed, ...deterministic }),
  },
  dqn: { kinds: ['discrete'], slots: 4, steps: 2560, gamma, algorithm: dqn({ ...valued, loss: 'squared' }) },
  'dqn, double, dueling, prioritised, 2 steps': {
    kinds: ['discrete'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: dqn({ ...valued, ...switchedOn, loss: 'huber' }),
  },
  c51: {
    kinds: ['discrete'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: c51({ ...valued, atoms: 25, low: -6, high: 6 }),
  },
  'qr-dqn': {
    kinds: ['discrete'],
    slots: 4,
    steps: 2560,
    gamma,
    algorithm: qrDqn({ ...valued, quantiles: 8 }),
  },
  pqn: {
    kinds: ['discrete'],
    slots: 8,
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
    kinds: ['discrete'],
    slots: 16,
    steps: 6400,
    gamma,
    algorithm: openAiEs({ sigma: 0.3, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' }),
    probes: ['policy', 'observed-policy'],
  },
}

const rows = Object.entries(candidates).flatMap(([name, candidate]) =>
  candidate.kinds.flatMap((kind) =>
    (candidate.probes ?? probeNames).map((which) => ({ name, kind, which, candidate })),
  ),
)

test.each(rows)('$name, $kind actions: $which', async ({ candidate, kind, which }) => {
  const { world, values, actions } = probe(which, kind)
  const environment = createVectorEnvironment(world, { slots: candidate.slots, seed: 1 })
  environment.reset()
  const agent = await candidate.algorithm(environment, { seed: 1, totalSteps: candidate.steps })
  for (let step = 0; step < candidate.steps; step += candidate.slots) {
    await agent.act()
    environment.step()
    await agent.learn()
  }
  for (const [observation, value] of values?.(candidate.gamma) ?? []) {
    if (agent.values === undefined) continue
    const found = new Float32Array(1)
    agent.values(Float32Array.of(observation), 1, found)
    expect(Math.abs(found[0] - value), `value of ${observation}: ${found[0]}, not ${value}`).toBeLessThan(0.1)
  }
  for (const [observation, action] of actions ?? []) {
    const found = new Float32Array(1)
    agent.decide(Float32Array.of(observation), 1, found)
    expect(Math.abs(found[0] - action), `action for ${observation}: ${found[0]}, not ${action}`).toBeLessThan(
      kind === 'discrete' ? 0.5 : 0.15,
    )
  }
  await agent.dispose()
})
