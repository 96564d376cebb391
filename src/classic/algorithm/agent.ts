import type { AnyVector } from '../environment/index.ts'

/** Figures of one update, by name. */
export type UpdateMetrics = Record<string, number>

/**
 * A learner of classic RL, driven by a loop that knows nothing of it: `act`, then the environment steps, then
 * `learn`. It belongs to one vector environment.
 */
export interface ClassicAgent {
  /** Writes an action for every slot. */
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
