import type { EnvironmentDefinition } from '../environment/index.ts'
import { entry } from '../algorithm/catalogue.ts'
import type { ClassicAlgorithmEntry } from '../algorithm/catalogue.ts'
import { nStepSarsa } from './n-step-sarsa.ts'
import { nStepPresets, tabularPresets, tracesPresets } from './presets.ts'
import { doubleQLearning, qLearning } from './q-learning.ts'
import { expectedSarsa, sarsa } from './sarsa.ts'
import { qLambda, sarsaLambda } from './traces.ts'

const onTables = {
  defaultPreset: (environment: string) =>
    environment.startsWith('cliff-walking') ? 'sutton-barto' : 'annealed',
  suits: ({ observation, action }: EnvironmentDefinition) =>
    observation.type === 'discrete' && action.type === 'discrete',
  network: false,
}

/** The learners of tables that can be asked for by name, for environments whose states and actions are numbered. */
export const tabularAlgorithms: Readonly<Record<string, ClassicAlgorithmEntry>> = {
  'q-learning': entry({
    ...onTables,
    about: 'a table of action values, off-policy (Watkins 1989)',
    presets: tabularPresets,
    create: qLearning,
  }),
  'double-q-learning': entry({
    ...onTables,
    about: 'two tables that judge one another (van Hasselt 2010)',
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
