import type { EnvironmentDefinition } from '../../environment/index.ts'
import type { UpdateMetrics } from '../agent.ts'

/**
 * A reward for what is new to the agent. Rows are transitions of one step, row i that of slot i: observations
 * [rows, observation], actions [rows, action], the observations that followed (those before any reset).
 */
export interface ExplorationBonus {
  /** Writes the bonus of each transition into `out` [rows]; learns nothing. */
  bonus(
    observations: Float32Array,
    actions: Float32Array,
    nextObservations: Float32Array,
    rows: number,
    out: Float64Array,
  ): void
  /** Sees the transitions, and updates itself when it is time to; then gives figures. */
  learn(
    observations: Float32Array,
    actions: Float32Array,
    nextObservations: Float32Array,
    rows: number,
  ): UpdateMetrics | undefined | Promise<UpdateMetrics | undefined>
  /** Everything that it needs to go on exactly here, as structured-cloneable data. */
  state(): unknown
  restore(state: unknown): void
  dispose(): Promise<void>
}

/** Makes a bonus for an environment of which so many slots are stepped together. */
export interface MakeBonus {
  (
    definition: EnvironmentDefinition,
    options: { numEnvs: number; seed: number; threads: number },
  ): Promise<ExplorationBonus>
  /**
   * How many of the last observations of the episode its observations consist of, side by side, the newest at the end;
   * its environment is the environment so seen. Absent: the newest alone.
   */
  readonly window?: number | undefined
}
