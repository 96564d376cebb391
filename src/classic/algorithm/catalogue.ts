import type { EnvironmentDefinition } from '../environment/index.ts'
import type { ClassicAlgorithm } from './agent.ts'

/** Settings of an algorithm, with the number of environments that they are meant for. */
export type Preset = { readonly numEnvs: number } & Readonly<Record<string, unknown>>

/** An algorithm as it is offered by name. */
export interface ClassicAlgorithmEntry {
  /** One line: what it is, and its paper. */
  readonly about: string
  readonly presets: Readonly<Record<string, Preset>>
  create(config: Preset): ClassicAlgorithm
  /** The preset for an environment of this name. */
  defaultPreset(environment: string): string
  /** Whether it can act in the environment at all. */
  suits(definition: EnvironmentDefinition): boolean
  /** Whether it learns a network, which can have a body. */
  readonly network: boolean
  /** Whether it learns from the reward of every step, to which a bonus can be added. */
  readonly bonus: boolean
}

/** An entry from an algorithm's own types; presets are plain data, so that they can be written into a run's record. */
export const entry = <C extends { numEnvs: number }>(given: {
  about: string
  presets: Readonly<Record<string, C>>
  create: (config: C) => ClassicAlgorithm
  defaultPreset: (environment: string) => string
  suits?: (definition: EnvironmentDefinition) => boolean
  network?: boolean
  bonus?: boolean
}): ClassicAlgorithmEntry => ({
  suits: () => true,
  network: true,
  bonus: true,
  ...(given as unknown as Omit<ClassicAlgorithmEntry, 'suits' | 'network' | 'bonus'>),
})
