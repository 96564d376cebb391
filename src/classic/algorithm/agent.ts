import type { BatchMember } from '../../engine/nn/index.ts'
import { AgogeError } from '../../error.ts'
import type { AnyVector, EnvironmentDefinition } from '../environment/index.ts'

/** Metrics of one update, by name. */
export type UpdateMetrics = Record<string, number>

/**
 * An agent of classic RL, which belongs to one vector environment. The training loop calls `act`, steps the
 * environment, and calls `learn`, for every algorithm alike.
 */
export interface ClassicAgent {
  /** Writes an action for every environment of the vector. */
  act(): void | Promise<void>
  /** Reads the result of the step, and updates when an update is due. Returns the metrics of an update. */
  learn(): UpdateMetrics | undefined | Promise<UpdateMetrics | undefined>
  /** Length of the state that the policy carries from step to step, for each row. Absent without such a state. */
  readonly memorySize?: number
  /**
   * Writes the greedy action for each of `rows` observations; used by evaluations. Reads and writes the carried
   * state in `memory` [rows, memorySize], whose row is zeros at the start of an episode. Without `memory`, every
   * observation counts as the first of an episode.
   */
  predict(
    observations: Float32Array,
    rows: number,
    actions: Float32Array,
    mask?: Uint8Array,
    memory?: Float32Array,
  ): void
  /**
   * Writes the estimated value of each of `rows` observations, which are first observations of episodes, under the
   * agent's policy. Absent if the agent learns no values. Used by the diagnostic environments. Ignores actions
   * that `mask` forbids.
   */
  values?(observations: Float32Array, rows: number, values: Float32Array, mask?: Uint8Array): void
  /** The complete state for an exact resume, as structured-cloneable data. */
  state(): unknown
  restore(state: unknown): void
  dispose(): Promise<void>
}

/** Makes an agent for an environment. */
export type ClassicAlgorithm = (
  environment: AnyVector,
  options: {
    seed: number
    totalSteps: number
    threads?: number
    /** Computes its gradients in one call with those of other trainings, if the algorithm can (`batched` of its entry). */
    batch?: BatchMember
  },
) => Promise<ClassicAgent>

/** Settings of an algorithm, with the number of environments that they are meant for. */
export type Preset = { readonly numEnvs: number } & Readonly<Record<string, unknown>>

/** An algorithm that is available by name. */
export interface ClassicAlgorithmEntry {
  /** One line: what it is, and its paper. */
  readonly about: string
  readonly presets: Readonly<Record<string, Preset>>
  create(config: Preset): ClassicAlgorithm
  /** The preset for the environment of this name. */
  defaultPreset(environment: string): string
  /** Returns true if the algorithm supports the spaces of the environment. */
  suits(definition: EnvironmentDefinition): boolean
  /** True if it learns a network, which takes an `encoder`. */
  readonly network: boolean
  /** True if it learns from the reward of every step, to which a bonus can be added. */
  readonly bonus: boolean
  /** True if several trainings of it can compute their gradients in one call. */
  readonly batched: boolean
}

/**
 * Makes an entry from the types of an algorithm. Presets are plain data, because they are written to the record of
 * a run.
 */
export const entry = <C extends { numEnvs: number }>(given: {
  about: string
  presets: Readonly<Record<string, C>>
  create: (config: C) => ClassicAlgorithm
  defaultPreset: (environment: string) => string
  suits?: (definition: EnvironmentDefinition) => boolean
  network?: boolean
  bonus?: boolean
  batched?: boolean
}): ClassicAlgorithmEntry => ({
  suits: () => true,
  network: true,
  bonus: true,
  batched: false,
  ...(given as unknown as Omit<ClassicAlgorithmEntry, 'suits' | 'network' | 'bonus' | 'batched'>),
})

/** A part of an agent that is saved in checkpoints. `state` returns a copy. */
export interface StateDict {
  state(): unknown
  restore(saved: unknown): void
}

/** Combines parts by name into one state. */
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

/**
 * The state of an array that is written in place.
 *
 * @throws AgogeError `checkpoint-mismatch` for an array of another length.
 */
export const stateOfArray = (array: Float32Array | Float64Array | Int32Array | Uint8Array): StateDict => ({
  state: () => array.slice(),
  restore(saved) {
    const length = ArrayBuffer.isView(saved) ? (saved as Float32Array).length : undefined
    if (length !== array.length) throw otherLearner(`${length ?? 'no'} numbers, not ${array.length}`)
    array.set(saved as Float32Array)
  },
})

/** The state of a variable that holds plain data. */
export const stateOfValue = <T>(read: () => T, write: (value: T) => void): StateDict => ({
  state: () => structuredClone(read()),
  restore: (saved) => write(structuredClone(saved as T)),
})

/** The states of fields of an object, by name, each as `stateOfValue`. */
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
  new AgogeError('The state belongs to another learner', {
    code: 'checkpoint-mismatch',
    given,
    expected: 'the state of a learner of the same algorithm, environment and settings',
  })
