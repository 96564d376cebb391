import type { assembly } from '../../engine/tensor/index.ts'
import type { ContextSpace } from './context.ts'
import type { ArraySpace } from './space.ts'

/** Where environments draw their chance from: a fast stream by default, NumPy's generator where parity is wanted. */
export interface EnvironmentRandom {
  /** Uniform in [0, 1), 53 random bits. */
  random(): number
  /** Uniform in [low, high), as NumPy computes it: low + (high - low) * random(). */
  uniform(low: number, high: number): number
  /** Uniform integer in [0, n). */
  integers(n: number): number
  /** Standard normal. */
  normal(): number
}

/** The typed arrays of all slots of an environment; row i of each belongs to slot i. An environment's functions write in place. */
export interface EnvArrays {
  readonly count: number
  /** [count, stateSize]. */
  readonly state: Float64Array
  /** [count, features], in the order of the context space. */
  readonly context: Float64Array
  /** [count, rowSize(action)]; what the policy chose. */
  readonly actions: Float32Array
  /** [count, rowSize(observation)]. */
  readonly observations: Float32Array
  /** [count]; written by every step. */
  readonly rewards: Float64Array
  /** [count]; 1 where the task itself has ended. Truncation by the time limit is not the environment's business. */
  readonly terminated: Uint8Array
  /**
   * [count, n]; 1 = allowed. The n choices of a discrete action, or those of each number of a multi-discrete one after
   * another (a bit has two). Empty for environments without `mask`.
   */
  readonly actionMask: Uint8Array
}

/** What a frame shows: shapes in the environment's own units, y upwards, painted in order. */
export interface Drawing {
  /** The part of the plane that is seen: left, bottom, width, height. */
  view: readonly [number, number, number, number]
  shapes: readonly DrawnShape[]
}

/**
 * Colours are CSS hex codes or common names. A rectangle stands on x, y, its lower left corner, and is turned by `angle`
 * (rad, counter-clockwise) about its centre. A text begins at x, its baseline at y; `size` is its height.
 */
export type DrawnShape =
  | { type: 'circle'; x: number; y: number; radius: number; fill: string }
  | { type: 'rectangle'; x: number; y: number; width: number; height: number; fill: string; angle?: number }
  | { type: 'line'; points: readonly (readonly [number, number])[]; stroke: string; width?: number }
  | { type: 'text'; x: number; y: number; text: string; fill?: string; size?: number }

/**
 * An environment written once, as functions over slot `i` of typed arrays: the scalar, the vectorised and the contextual
 * environment follow. Constants of the dynamics are read from `context`, so that every feature acts. No function
 * keeps anything between calls.
 */
export interface EnvironmentDefinition<C extends ContextSpace = ContextSpace> {
  readonly name: string
  readonly observation: ArraySpace
  readonly action: ArraySpace
  readonly context: C
  /** Numbers of state a slot. */
  readonly stateSize: number
  /** Steps after which an episode is truncated; none where absent. */
  readonly maxSteps?: number
  /** Writes a first state. */
  readonly reset: (numEnvs: EnvArrays, i: number, random: EnvironmentRandom) => void
  /** From state and action to the next state, reward and `terminated`. */
  readonly step: (numEnvs: EnvArrays, i: number, random: EnvironmentRandom) => void
  /** Writes the observation of the state. */
  readonly observe: (numEnvs: EnvArrays, i: number) => void
  /** A quicker way for many slots, where there is one. */
  readonly batched?: BatchedDefinition<C>
  /** Writes the choices that are allowed in the state; not for boxes. */
  readonly mask?: (numEnvs: EnvArrays, i: number) => void
  readonly draw?: (numEnvs: EnvArrays, i: number) => Drawing
  /** A frame of characters, for environments on a grid. */
  readonly text?: (numEnvs: EnvArrays, i: number) => string
}

/**
 * `step` and `observe` of an environment for two slots at a time, with the same bits. It counts for an environment with these very functions
 * and this context, not for another made of it. Chance is not drawn.
 */
export interface BatchedDefinition<C extends ContextSpace = ContextSpace> extends Pick<
  EnvironmentDefinition<C>,
  'step' | 'observe' | 'context'
> {
  /**
   * `(state, context, actions, observations, rewards, terminated, pairs, leftSome)`: addresses in bytes of the arrays of
   * `Slots`. May leave pairs alone: then it writes 2 to `terminated` of both, and 1 to the i32 at `leftSome`.
   */
  readonly kernel: assembly.WasmFunction
}

/** Checks nothing, infers the features: so that an environment is written with its types. */
export const defineEnvironment = <C extends ContextSpace>(
  definition: EnvironmentDefinition<C>,
): EnvironmentDefinition<C> => definition
