import type { EnvironmentDefinition } from '../../environment/index.ts'
import { cartPole, cartPolePositions } from '../../environments/control/cart-pole.ts'
import { pendulum } from '../../environments/control/pendulum.ts'
import { frozenLake } from '../../environments/toy-text/frozen-lake.ts'
import {
  doubleQLearning,
  expectedSarsa,
  nStepSarsa,
  qLambda,
  qLearning,
  sarsa,
  sarsaLambda,
} from '../../tabular/temporal-difference.ts'
import { c51 } from '../action-values/c51.ts'
import { dqn } from '../action-values/dqn.ts'
import { qrDqn } from '../action-values/qr-dqn.ts'
import { ddpg, td3 } from '../actor-critic/td3.ts'
import { discreteSac } from '../actor-critic/sac-discrete.ts'
import { sac } from '../actor-critic/sac.ts'
import type { ClassicAlgorithm } from '../agent.ts'
import { cmaEs, openAiEs } from '../evolution/evolution.ts'
import { counts, icm, rnd, withBonus } from '../exploration/index.ts'
import { a2c, a2cPresets } from '../on-policy/a2c.ts'
import { ppo, ppoPresets } from '../on-policy/ppo.ts'
import { pqn } from '../on-policy/pqn.ts'
import { reinforce } from '../on-policy/reinforce.ts'

/** Action-value settings for tests: plain DQN without its variants. */
export const plainValues = {
  learningRate: 5e-3,
  adamEpsilon: 1e-8,
  epsilonStart: 1,
  epsilonEnd: 0.1,
  explorationFraction: 0.5,
  double: false,
  dueling: false,
  noisy: false,
  prioritised: false,
  nSteps: 1,
} as const

/** An algorithm so small that a thousand steps take a moment, with an environment for it. */
export interface SmallLearner {
  algorithm: ClassicAlgorithm
  definition: EnvironmentDefinition
  numEnvs: number
}

const network = { hidden: [8], activation: 'tanh', gamma: 0.9 } as const
const gru = { kind: 'gru', size: 4, window: 3 } as const
const transformer = { kind: 'transformer', size: 4, heads: 2, window: 3 } as const

const ppoConfig = { ...ppoPresets.cleanrl, ...network, rolloutSteps: 16, minibatches: 2, epochs: 2 }
const replayed = {
  ...network,
  bufferSize: 600,
  batchSize: 16,
  learningStarts: 64,
  trainEvery: 4,
  gradientSteps: 1,
  tau: 0.1,
} as const
const valued = {
  ...replayed,
  ...plainValues,
  maxGradientNorm: 10,
  targetEvery: 8,
} as const
const soft = {
  ...replayed,
  actorLearningRate: 5e-3,
  criticLearningRate: 5e-3,
  temperature: { auto: true, start: 1 },
} as const
const deterministic = { ...replayed, learningRate: 5e-3, explorationNoise: 0.3 } as const
const reinforceConfig = {
  ...network,
  episodes: 3,
  baseline: true,
  normaliseAdvantages: false,
  learningRate: 1e-2,
  entropy: 0,
  valueWeight: 0.5,
}
const linear = { hidden: [], activation: 'tanh' } as const
const table = { gamma: 0.95, stepSize: 0.2, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 0.5 }

const onCartPole = (algorithm: ClassicAlgorithm, numEnvs = 4): SmallLearner => ({
  algorithm,
  definition: cartPole,
  numEnvs,
})
const onPendulum = (algorithm: ClassicAlgorithm): SmallLearner => ({
  algorithm,
  definition: pendulum,
  numEnvs: 4,
})
const onIce = (algorithm: ClassicAlgorithm): SmallLearner => ({
  algorithm,
  definition: frozenLake,
  numEnvs: 4,
})

/** One of every algorithm, and of its main options. */
export const smallLearners = {
  ppo: onCartPole(ppo(ppoConfig)),
  'ppo, KL penalty, normalised': onCartPole(
    ppo({ ...ppoConfig, klPenalty: { beta: 0.2, target: 0.01 }, normalise: true }),
  ),
  'ppo, recurrent': {
    algorithm: ppo({ ...ppoConfig, normalise: true, encoder: { kind: 'gru', size: 6, sequence: 8 } }),
    definition: cartPolePositions,
    numEnvs: 4,
  },
  'ppo with counts': onCartPole(withBonus(ppo(ppoConfig), counts({ hashBits: 8 }), 0.1)),
  'ppo with rnd': onCartPole(withBonus(ppo(ppoConfig), rnd({ batchSize: 32, hidden: [8] }), 0.1)),
  'ppo with rnd, gru over a window': onCartPole(
    withBonus(ppo(ppoConfig), rnd({ batchSize: 32, hidden: [8], encoder: gru }), 0.1),
  ),
  'ppo with icm': onCartPole(withBonus(ppo(ppoConfig), icm({ batchSize: 32, hidden: [8] }), 0.1)),
  a2c: onCartPole(a2c({ ...a2cPresets['sb3-zoo-cartpole'], ...network })),
  'a2c, gru over a window': onCartPole(
    a2c({ ...a2cPresets['sb3-zoo-cartpole'], ...network, rolloutSteps: 8, encoder: gru }),
  ),
  reinforce: onCartPole(reinforce(reinforceConfig)),
  'reinforce, gru over a window': onCartPole(reinforce({ ...reinforceConfig, encoder: gru })),
  dqn: onCartPole(dqn({ ...valued, loss: 'squared' })),
  'dqn, double, dueling, noisy, prioritised, 3 steps': onCartPole(
    dqn({
      ...valued,
      double: true,
      dueling: true,
      noisy: true,
      prioritised: { alpha: 0.6, beta: 0.4 },
      nSteps: 3,
      loss: 'huber',
    }),
  ),
  'dqn, transformer': onCartPole(dqn({ ...valued, nSteps: 2, loss: 'squared', encoder: transformer })),
  c51: onCartPole(c51({ ...valued, atoms: 5, low: 0, high: 10 })),
  'qr-dqn': onCartPole(qrDqn({ ...valued, quantiles: 4 })),
  pqn: onCartPole(pqn({ ...valued, rolloutSteps: 8, epochs: 2, minibatches: 2, anneal: true, lambda: 0.65 })),
  'pqn, gru over a window': onCartPole(
    pqn({ ...valued, rolloutSteps: 8, epochs: 2, minibatches: 2, anneal: true, lambda: 0.65, encoder: gru }),
  ),
  sac: onPendulum(sac({ ...soft, actorEvery: 2 })),
  'sac, gru over a window': onPendulum(sac({ ...soft, actorEvery: 1, encoder: gru })),
  'sac-discrete': onCartPole(discreteSac({ ...soft, adamEpsilon: 1e-8, targetEvery: 1, targetEntropy: 0.5 })),
  td3: onPendulum(
    td3({ ...deterministic, critics: 2, policyDelay: 2, targetNoise: 0.2, targetNoiseClip: 0.5 }),
  ),
  ddpg: onPendulum(ddpg({ ...deterministic, policyDelay: 1 })),
  'openai-es': onCartPole(openAiEs({ ...linear, sigma: 0.2, learningRate: 0.1, weightDecay: 0.01 }), 8),
  'openai-es, gru over a window': onCartPole(
    openAiEs({ ...linear, sigma: 0.2, learningRate: 0.1, weightDecay: 0, encoder: gru }),
    8,
  ),
  'cma-es': onCartPole(cmaEs({ ...linear, sigma: 0.5 }), 8),
  'q-learning': onIce(qLearning(table)),
  'double-q-learning': onIce(doubleQLearning(table)),
  sarsa: onIce(sarsa(table)),
  'expected-sarsa': onIce(expectedSarsa(table)),
  'n-step-sarsa': onIce(nStepSarsa({ ...table, nSteps: 3 })),
  'sarsa-lambda': onIce(sarsaLambda({ ...table, lambda: 0.8 })),
  'q-lambda': onIce(qLambda({ ...table, lambda: 0.8 })),
} as const satisfies Record<string, SmallLearner>

export type SmallLearnerName = keyof typeof smallLearners
