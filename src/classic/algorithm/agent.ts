import { AgogeError } from '../../error.ts'
import type { AnyVector, EnvironmentDefinition } from '../environment/index.ts'

/** Figures of one update, by name. */
export type UpdateMetrics = Record<string, number>

/**
 * A learner of classic RL, driven by a loop that knows nothing of it: `act`, then the environment steps, then
 * `learn`. It belongs to one vector environment.
 */
export interface ClassicAgent {
  /** Writes an action for every environment of the vector. */
  act(): void | Promise<void>
  /** Sees what came of it, and updates when it is time to; then gives figures. */
  learn(): UpdateMetrics | undefined | Promise<UpdateMetrics | undefined>
  /** Numbers that it carries from step to step for each row; none where absent. */
  readonly memorySize?: number
  /**
   * Writes the greedy action for each of `rows` observations; what evaluation plays. What it remembers is read from and
   * written to `memory` [rows, memorySize], a row of zeros where an episode begins; without it every observation is
   * taken for the first of an episode.
   */
  predict(
    observations: Float32Array,
    rows: number,
    actions: Float32Array,
    mask?: Uint8Array,
    memory?: Float32Array,
  ): void
  /**
   * Estimates the value of each of `rows` observations, the first ones of episodes, under its policy, where it learns
   * one; what the probes look at. Actions that `mask` forbids count for nothing.
   */
  values?(observations: Float32Array, rows: number, values: Float32Array, mask?: Uint8Array): void
  /** Everything that it needs to go on exactly here, as structured-cloneable data. */
  state(): unknown
  restore(state: unknown): void
  dispose(): Promise<void>
}

/** Makes an agent for an environment. */
export type ClassicAlgorithm = (
  environment: AnyVector,
  options: { seed: number; totalSteps: number; threads?: number },
) => Promise<ClassicAgent>

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

/** A part of a learner that is kept in checkpoints; what it gives is a copy. */
export interface StateDict {
  state(): unknown
  restore(saved: unknown): void
}

/** Parts by name as one: what a learner needs to go on exactly where it was. */
export const stateOfParts = (parts: Readonly<Record<string, StateDict>>): StateDict => ({
  state: () => Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.state()])),
  restore(saved) {
    for (const [name, part] of Object.entries(parts)) {
      if (typeof saved !== 'object' || saved === null || !Object.hasOwn(saved, name))
        throw otherLearner(`without ${name}`)
      part.restore((saved as Record<string, unknown>)[name])
    }
  },
})

/** An array that is written in place. Throws `checkpoint-mismatch` for one of another length. */
export const stateOfArray = (array: Float32Array | Float64Array | Int32Array | Uint8Array): StateDict => ({
  state: () => array.slice(),
  restore(saved) {
    const length = ArrayBuffer.isView(saved) ? (saved as Float32Array).length : undefined
    if (length !== array.length) throw otherLearner(`${length ?? 'no'} numbers, not ${array.length}`)
    array.set(saved as Float32Array)
  },
})

/** What a variable holds: plain data. */
export const stateOfValue = <T>(read: () => T, write: (value: T) => void): StateDict => ({
  state: () => structuredClone(read()),
  restore: (saved) => write(structuredClone(saved as T)),
})

/** Fields of an object by name, each as `stateOfValue`. */
export const stateOfFields = <T extends object>(
  object: T,
  names: readonly (keyof T & string)[],
): Record<string, StateDict> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      stateOfValue(
        () => object[name],
        (value) => (object[name] = value),
      ),
    ]),
  )

const otherLearner = (given: string): AgogeError =>
  new AgogeError('The state is of another learner', {
    code: 'checkpoint-mismatch',
    given,
    expected: 'the state of a learner of the same algorithm, environment and settings',
  })
