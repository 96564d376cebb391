import type { Random } from '../../engine/random/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'

/**
 * How the numbers that a network gives for an observation become an action. Actions are rows of floats, also where
 * they are choices.
 */
export interface ActionDistribution {
  /** Numbers the network gives for a row. */
  readonly parameters: number
  /** Numbers of an action. */
  readonly actionSize: number
  /**
   * Draws an action from row `row` of `parameters` into row `row` of `actions`; gives its log-probability. Without
   * `random` the likeliest action. `mask` [rows, n] forbids choices where it is 0.
   */
  draw(
    parameters: Float32Array,
    row: number,
    actions: Float32Array,
    random: Random | undefined,
    mask?: Uint8Array,
  ): number
  /** Traced, parameters [B, p], actions [B, k] and, for choices, maskPenalty [B, n] (0 or very negative): all [B]. */
  logprob(parameters: Tensor, actions: Tensor, maskPenalty?: Tensor): Tensor
  entropy(parameters: Tensor, maskPenalty?: Tensor): Tensor
}
