import { defineEnvironment } from '../../environment/index.ts'
import { diagnosticBase } from './base.ts'
import type { Diagnostic, DiagnosticKind } from './diagnostic.ts'

const reward = { default: 1, low: 0.5, high: 2, about: 'reward of the only step that pays' }

/** One step, reward 1, nothing to see: the value is 1. */
export const constantValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the value learns a constant',
  definition: defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-constant-value-${kind}`,
    context: { reward },
    reset({ state }, i) {
      state[i] = 0
    },
    step({ context, rewards, terminated }, i) {
      rewards[i] = context.reward[i]
      terminated[i] = 1
    },
  }),
  values: () => [[0, 1]],
})

/** One step, the reward is what was seen, -1 or 1. */
export const observedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the value sees the observation',
  definition: defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-observed-value-${kind}`,
    context: { reward },
    reset({ state }, i, random) {
      state[i] = random.integers(2) === 1 ? 1 : -1
    },
    step({ state, context, rewards, terminated }, i) {
      rewards[i] = context.reward[i] * state[i]
      terminated[i] = 1
    },
  }),
  values: () => [
    [-1, -1],
    [1, 1],
  ],
})

/** Two steps; only the second pays, 1: the value of the first is the discount. */
export const discountedValue = (kind: DiagnosticKind): Diagnostic => ({
  about: 'the value of the next step is discounted, once',
  definition: defineEnvironment({
    ...diagnosticBase(kind),
    name: `probe-discounted-value-${kind}`,
    context: { reward },
    reset({ state }, i) {
      state[i] = 0
    },
    step({ state, context, rewards, terminated }, i) {
      const last = state[i] === 1
      rewards[i] = last ? context.reward[i] : 0
      terminated[i] = last ? 1 : 0
      state[i] = 1
    },
  }),
  values: (gamma) => [
    [0, gamma],
    [1, 1],
  ],
})
