import type { EnvironmentDefinition } from '../../environment/index.ts'

/**
 * An environment that only an algorithm without one certain fault can do, with what it must have learned in the end (after
 * Andy Jones, "Debugging RL, without the agonizing pain", and the tests of rejax).
 */
export interface Diagnostic {
  /** The fault that it shows. */
  readonly about: string
  readonly definition: EnvironmentDefinition
  /** Observations with their true values at a discount. */
  readonly values?: (gamma: number) => readonly (readonly [observation: number, value: number])[]
  /** Observations with the best action. */
  readonly actions?: readonly (readonly [observation: number, action: number])[]
}

export type DiagnosticKind = 'discrete' | 'continuous'
