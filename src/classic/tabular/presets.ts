import type { TabularConfig } from './control.ts'

/**
 * Settings of our own. `annealed` explores less and less, for environments with chance; `sutton-barto` are those of the cliff in
 * Sutton & Barto 2018, example 6.6, where the step size is that of example 6.5.
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

export const nStepPresets = {
  annealed: { ...annealed, nSteps: 4 },
  'sutton-barto': { ...suttonBarto, nSteps: 4 },
} as const

export const tracesPresets = {
  annealed: { ...annealed, lambda: 0.8 },
  'sutton-barto': { ...suttonBarto, lambda: 0.8 },
} as const
