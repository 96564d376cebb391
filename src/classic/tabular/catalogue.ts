import { type ClassicAlgorithmEntry, entry } from '../algorithm/agent.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import type { TabularConfig } from './control.ts'
import {
  doubleQLearning,
  expectedSarsa,
  nStepSarsa,
  qLambda,
  qLearning,
  sarsa,
  sarsaLambda,
} from './temporal-difference.ts'

/**
 * Settings. `annealed` lowers epsilon over the run, for stochastic environments (our own). `sutton-barto` are
 * those of the cliff in Sutton & Barto 2018, example 6.6, with the step size of example 6.5.
 */
export const tabularPresets = {
  annealed: {
    numEnvs: 4,
    stepSize: 0.1,
    gamma: 0.99,
    epsilonStart: 1,
    epsilonEnd: 0.05,
    explorationFraction: 0.7,
  },
  'sutton-barto': {
    numEnvs: 1,
    stepSize: 0.5,
    gamma: 1,
    epsilonStart: 0.1,
    epsilonEnd: 0.1,
    explorationFraction: 0,
  },
} as const satisfies Record<string, TabularConfig & { numEnvs: number }>

const { annealed, 'sutton-barto': suttonBarto } = tabularPresets

const nStepPresets = {
  annealed: { ...annealed, nSteps: 4 },
  'sutton-barto': { ...suttonBarto, nSteps: 4 },
} as const

const tracesPresets = {
  annealed: { ...annealed, lambda: 0.8 },
  'sutton-barto': { ...suttonBarto, lambda: 0.8 },
} as const

const onTables = {
  defaultPreset: (environment: string) =>
    environment.startsWith('cliff-walking') ? 'sutton-barto' : 'annealed',
  suits: ({ observation, action }: EnvironmentDefinition) =>
    observation.type === 'discrete' && action.type === 'discrete',
  network: false,
}

/** The tabular algorithms by name, for environments with discrete states and actions. */
export const tabularAlgorithms: Readonly<Record<string, ClassicAlgorithmEntry>> = {
  'q-learning': entry({
    ...onTables,
    about: 'a table of action values, off-policy (Watkins 1989)',
    presets: tabularPresets,
    create: qLearning,
  }),
  'double-q-learning': entry({
    ...onTables,
    about: 'two tables that evaluate each other (van Hasselt 2010)',
    presets: tabularPresets,
    create: doubleQLearning,
  }),
  sarsa: entry({
    ...onTables,
    about: 'a table of the values of its own policy (Rummery & Niranjan 1994)',
    presets: tabularPresets,
    create: sarsa,
  }),
  'expected-sarsa': entry({
    ...onTables,
    about: 'Sarsa with the expectation over the next action (van Seijen et al. 2009)',
    presets: tabularPresets,
    create: expectedSarsa,
  }),
  'n-step-sarsa': entry({
    ...onTables,
    about: 'Sarsa with several rewards before the bootstrap (Sutton & Barto 2018)',
    presets: nStepPresets,
    create: nStepSarsa,
  }),
  'sarsa-lambda': entry({
    ...onTables,
    about: 'Sarsa with eligibility traces (Rummery & Niranjan 1994)',
    presets: tracesPresets,
    create: sarsaLambda,
  }),
  'q-lambda': entry({
    ...onTables,
    about: 'Q-learning with eligibility traces (Watkins 1989)',
    presets: tracesPresets,
    create: qLambda,
  }),
}
