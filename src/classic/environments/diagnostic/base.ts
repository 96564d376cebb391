import { box, discrete } from '../../environment/index.ts'
import type { EnvArrays } from '../../environment/index.ts'
import type { DiagnosticKind } from './diagnostic.ts'

/** What all probes share: one number is seen, one action is taken, one number is the state, which is what is seen. */
export const diagnosticBase = (kind: DiagnosticKind) => ({
  observation: box([1], -1, 1),
  action: kind === 'discrete' ? discrete(2) : box([1], -1, 1),
  stateSize: 1,
  observe({ state, observations }: EnvArrays, i: number): void {
    observations[i] = state[i]
  },
})

/** The action as the environment takes it: within its bounds. */
export const clipped = (action: number): number => Math.max(-1, Math.min(1, action))
