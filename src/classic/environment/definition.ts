import type { assembly } from '../../engine/tensor/index.ts'
import type { ContextColumns, ContextSpace } from './context.ts'
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

/** The typed arrays of a vector; row i of each belongs to environment i. An environment's functions write in place. */
export interface EnvArrays<C extends ContextSpace = ContextSpace> {
  readonly count: number
  /** [count, stateSize]. */
  readonly state: Float64Array
  /** Of each feature its values, [count]: `context.gravity[i]` is environment i's gravity. */
  readonly context: ContextColumns<C>
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
 * An environment written once, as functions over row `i` of typed arrays: the single, the vectorised and the contextual
 * environment follow. Constants of the dynamics are read from `context`, so that every feature acts. No function
 * keeps anything between calls.
 */
export interface EnvironmentDefinition<C extends ContextSpace = ContextSpace> {
  readonly name: string
  readonly observation: ArraySpace
  readonly action: ArraySpace
  readonly context: C
  /** Numbers of state an environment. */
  readonly stateSize: number
  /** Steps after which an episode is truncated; none where absent. */
  readonly maxSteps?: number
  /** Writes a first state. */
  readonly reset: (envs: EnvArrays, i: number, random: EnvironmentRandom) => void
  /** From state and action to the next state, reward and `terminated`. */
  readonly step: (envs: EnvArrays, i: number, random: EnvironmentRandom) => void
  /** Writes the observation of the state. */
  readonly observe: (envs: EnvArrays, i: number) => void
  /** A quicker way for many environments, where there is one. */
  readonly batched?: BatchedDefinition<C>
  /** Writes the choices that are allowed in the state; not for boxes. */
  readonly mask?: (envs: EnvArrays, i: number) => void
  readonly draw?: (envs: EnvArrays, i: number) => Drawing
  /** A frame of characters, for environments on a grid. */
  readonly text?: (envs: EnvArrays, i: number) => string
}

/**
 * `step` and `observe` of an environment for two environments at a time, with the same bits. It counts for an environment with these very functions
 * and this context, not for another made of it. Chance is not drawn.
 */
export interface BatchedDefinition<C extends ContextSpace = ContextSpace> extends Pick<
  EnvironmentDefinition<C>,
  'step' | 'observe' | 'context'
> {
  /**
   * `(state, context, columnBytes, actions, observations, rewards, terminated, pairs, leftSome)`: addresses in bytes of the arrays of
   * `EnvArrays`; each context feature is a column of `columnBytes`. May leave pairs alone: then it writes 2 to `terminated` of both, and 1 to the i32 at `leftSome`.
   */
  readonly kernel: assembly.WasmFunction
}

/** What `defineEnvironment` takes: an `EnvironmentDefinition` whose functions know the names of its features. */
export interface EnvironmentSource<C extends ContextSpace> extends Omit<
  EnvironmentDefinition<C>,
  'reset' | 'step' | 'observe' | 'mask' | 'draw' | 'text' | 'batched'
> {
  readonly reset: (envs: EnvArrays<C>, i: number, random: EnvironmentRandom) => void
  readonly step: (envs: EnvArrays<C>, i: number, random: EnvironmentRandom) => void
  readonly observe: (envs: EnvArrays<C>, i: number) => void
  readonly mask?: (envs: EnvArrays<C>, i: number) => void
  readonly draw?: (envs: EnvArrays<C>, i: number) => Drawing
  readonly text?: (envs: EnvArrays<C>, i: number) => string
  /** `step` and `observe` for two environments at a time: `BatchedDefinition.kernel`. */
  readonly kernel?: assembly.WasmFunction
}

/**
 * An environment out of its spaces, its context features and its functions. Inside these each feature is a typed array by
 * name, with one value for each environment of the vector: `context.slope[i]`.
 *
 * @example
 * const hill = defineEnvironment({
 *   name: 'hill',
 *   observation: box([1], -10, 10),
 *   action: discrete(2),
 *   context: { slope: { default: 0.1, low: 0, high: 0.5, about: 'm a step, downhill' } },
 *   stateSize: 1,
 *   maxSteps: 50,
 *   reset({ state }, i, random) {
 *     state[i] = random.uniform(-1, 1)
 *   },
 *   step({ state, context, actions, rewards, terminated }, i) {
 *     state[i] += (actions[i] === 1 ? 1 : -1) - context.slope[i]
 *     rewards[i] = -Math.abs(state[i])
 *     terminated[i] = Math.abs(state[i]) > 10 ? 1 : 0
 *   },
 *   observe({ state, observations }, i) {
 *     observations[i] = state[i]
 *   },
 * })
 */
export function defineEnvironment<C extends ContextSpace>({
  kernel,
  ...source
}: EnvironmentSource<C>): EnvironmentDefinition<C> {
  // Arrays of any features have those of this space, since they are made for it.
  const definition = source as EnvironmentDefinition<C>
  if (kernel === undefined) return definition
  const { step, observe, context } = definition
  return { ...definition, batched: { step, observe, context, kernel } }
}
