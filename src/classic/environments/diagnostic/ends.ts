import { defineEnvironment } from '../../environment/index.ts'
import { diagnosticBase } from './base.ts'
import type { Diagnostic, DiagnosticKind } from './diagnostic.ts'

const reward = { default: 1, low: 0.5, high: 2, about: 'reward of every step but the first' }

/** Two steps: from -1 to 1, which pays nothing, and from 1 to 1, which pays 1. */
const twoSteps = (kind: DiagnosticKind, ends: boolean) =>
  defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-${ends ? 'terminated' : 'truncated'}-value-${kind}`,
    context: { reward },
    maxSteps: 2,
    reset({ state }, i) {
      state[i] = -1
    },
    step({ state, context, rewards, terminated }, i) {
      const second = state[i] === 1
      rewards[i] = second ? context.reward[i] : 0
      terminated[i] = second && ends ? 1 : 0
      state[i] = 1
    },
  })

/**
 * Only ever truncated, so that the values are those of a task that goes on: 1 / (1 - gamma). Taken for an end they
 * would be 1; bootstrapped with what is seen after the reset, 1 / (1 - gamma^2).
 */
export const truncatedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'a truncated episode is bootstrapped, with its last observation',
  definition: twoSteps(kind, false),
  values: (gamma) => [
    [-1, gamma / (1 - gamma)],
    [1, 1 / (1 - gamma)],
  ],
})

/** The same, but terminated in the step in which it would be truncated: nothing follows. */
export const terminatedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'a terminated episode is not bootstrapped, also where the limit is reached in the same step',
  definition: twoSteps(kind, true),
  values: (gamma) => [
    [-1, gamma],
    [1, 1],
  ],
})
