import type { World } from '../../environment/index.ts'
import type { ArrayAlgorithm } from './agent.ts'

/** Settings of an algorithm, with the number of environments that they are meant for. */
export type Preset = { readonly slots: number } & Readonly<Record<string, unknown>>

/** An algorithm as it is offered by name. */
export interface ArrayAlgorithmEntry {
  /** One line: what it is, and its paper. */
  readonly about: string
  readonly presets: Readonly<Record<string, Preset>>
  create(config: Preset): ArrayAlgorithm
  /** The preset for a world of this name. */
  defaultPreset(world: string): string
  /** Whether it can act in the world at all. */
  suits(world: World): boolean
  /** Whether it learns a network, which can have a body. */
  readonly network: boolean
  /** Whether it learns from the reward of every step, to which a bonus can be added. */
  readonly bonus: boolean
}

/** An entry from an algorithm's own types; presets are plain data, so that they can be written into a run's record. */
export const entry = <C extends { slots: number }>(given: {
  about: string
  presets: Readonly<Record<string, C>>
  create: (config: C) => ArrayAlgorithm
  defaultPreset: (world: string) => string
  suits?: (world: World) => boolean
  network?: boolean
  bonus?: boolean
}): ArrayAlgorithmEntry => ({
  suits: () => true,
  network: true,
  bonus: true,
  ...(given as unknown as Omit<ArrayAlgorithmEntry, 'suits' | 'network' | 'bonus'>),
})
