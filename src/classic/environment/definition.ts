import type { assembly } from '../../engine/tensor/index.ts'
import type { ContextColumns, ContextSpace } from './context.ts'
import type { ArraySpace } from './space.ts'

/**
 * The random numbers of an environment. Default: a fast stream. NumPy's generator is available for parity with
 * Gymnasium.
 */
export interface EnvironmentRandom {
  /** Uniform in [0, 1), with 53 random bits. */
  random(): number
  /** Uniform in [low, high), computed as NumPy does: low + (high - low) * random(). */
  uniform(low: number, high: number): number
  /** Uniform integer in [0, n). */
  integers(n: number): number
  /** Standard normal. */
  normal(): number
}

/**
 * The typed arrays of a vector. Row i of each array belongs to environment i. The functions of a definition
 * write in place.
 */
export interface EnvArrays<C extends ContextSpace = ContextSpace> {
  readonly count: number
  /** [count, stateSize]. */
  readonly state: Float64Array
  /** One array [count] for each feature: `context.gravity[i]` is the gravity of environment i. */
  readonly context: ContextColumns<C>
  /** [count, rowSize(action)]. The actions that the policy chose. */
  readonly actions: Float32Array
  /** [count, rowSize(observation)]. */
  readonly observations: Float32Array
  /** [count]. Every step writes it. */
  readonly rewards: Float64Array
  /** [count]. 1 where the task itself has ended. The vector handles truncation by the time limit. */
  readonly terminated: Uint8Array
  /**
   * [count, n], 1 = allowed. n is the number of choices of a discrete action. For a multi-discrete or binary
   * action, the choices of all its numbers are concatenated; a bit has two. Empty for environments without
   * `mask`.
   */
  readonly actionMask: Uint8Array
}

/** A frame: shapes in the units of the environment, y upwards, painted in order. */
export interface Drawing {
  /** The visible part of the plane: left, bottom, width, height. */
  view: readonly [number, number, number, number]
  shapes: readonly DrawnShape[]
}

/**
 * Colours are CSS hex codes or common names. The point x, y of a rectangle is its lower left corner; `angle`
 * (rad, counter-clockwise) rotates it about its centre. A text begins at x, with its baseline at y; `size` is
 * its height.
 */
export type DrawnShape =
  | { type: 'circle'; x: number; y: number; radius: number; fill: string }
  | { type: 'rectangle'; x: number; y: number; width: number; height: number; fill: string; angle?: number }
  | { type: 'line'; points: readonly (readonly [number, number])[]; stroke: string; width?: number }
  | { type: 'text'; x: number; y: number; text: string; fill?: string; size?: number }

/**
 * An environment, written as functions over row `i` of typed arrays. `createEnvironment` makes a single
 * environment of it, `createVectorEnvironment` many. The functions read the constants of the dynamics from
 * `context` and store nothing between calls. Make one with `defineEnvironment`.
 */
export interface EnvironmentDefinition<C extends ContextSpace = ContextSpace> {
  readonly name: string
  /**
   * Names of the agents, where consecutive rows of the vector are the agents of one episode (see
   * `independentAgents`). Default: every row is an episode of its own.
   */
  readonly agentNames?: readonly string[]
  readonly observation: ArraySpace
  readonly action: ArraySpace
  readonly context: C
  /** Length of the state of one environment. */
  readonly stateSize: number
  /** An episode is truncated after this number of steps. Default: no limit. */
  readonly maxSteps?: number
  /**
   * Loads what the environment needs before its first reset, such as a physics engine. `openVector`, trainings and
   * evaluations await it. Default: nothing.
   */
  readonly load?: () => Promise<void>
  /** Writes an initial state. */
  readonly reset: (envs: EnvArrays, i: number, random: EnvironmentRandom) => void
  /** Reads state and action; writes the next state, the reward and `terminated`. */
  readonly step: (envs: EnvArrays, i: number, random: EnvironmentRandom) => void
  /** Writes the observation of the current state. */
  readonly observe: (envs: EnvArrays, i: number) => void
  /** Optional: steps several environments at once, for speed. */
  readonly batched?: BatchedDefinition<C>
  /** Writes which choices the current state allows. Not for boxes. */
  readonly mask?: (envs: EnvArrays, i: number) => void
  readonly draw?: (envs: EnvArrays, i: number) => Drawing
  /** A frame as text, for environments on a grid. */
  readonly text?: (envs: EnvArrays, i: number) => string
}

/**
 * `step` and `observe` for two environments at a time, with bit-identical results. Used only for a definition
 * with exactly these functions and this context: a definition derived from it runs its own functions. The
 * kernel draws no random numbers.
 */
export interface BatchedDefinition<C extends ContextSpace = ContextSpace> extends Pick<
  EnvironmentDefinition<C>,
  'step' | 'observe' | 'context'
> {
  /**
   * `(state, context, columnBytes, actions, observations, rewards, terminated, pairs, leftSome)`: byte
   * addresses of the arrays of `EnvArrays`. Each context feature is a column of `columnBytes`. The kernel may
   * skip a pair: it then writes 2 to `terminated` of both environments, and 1 to the i32 at `leftSome`.
   */
  readonly kernel: assembly.WasmFunction
}

/**
 * The input of `defineEnvironment`: an `EnvironmentDefinition` whose functions are typed with the names of its
 * features.
 */
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
  /** `step` and `observe` for two environments at a time, as in `BatchedDefinition.kernel`. */
  readonly kernel?: assembly.WasmFunction
}

/**
 * Defines an environment by its spaces, its context features and its functions. The functions read each feature
 * by name, as a typed array with one value for each environment of the vector: `context.slope[i]`.
 *
 * @returns the definition, for `createEnvironment`, `createVectorEnvironment` and `trainClassic`
 *
 * @example
 * const hill = defineEnvironment({
 *   name: 'hill',
 *   observation: box([1], -10, 10),
 *   action: discrete(2),
 *   context: { slope: { default: 0.1, low: 0, high: 0.5, about: 'm per step, downhill' } },
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
  // The arrays are made for this context space, so they have its features.
  const definition = source as EnvironmentDefinition<C>
  if (kernel === undefined) return definition
  const { step, observe, context } = definition
  return { ...definition, batched: { step, observe, context, kernel } }
}
