import { AgogeError } from '../../error.ts'
import { maskSize } from './action-masks.ts'
import { batched } from './batched.ts'
import { type Context, contextColumns, contextRow, contextRows, writeContext } from './context.ts'
import type { EnvArrays, EnvironmentDefinition } from './definition.ts'
import { type EnvironmentStream, fastStream } from './environment-random.ts'
import type { NumberArray } from './space-values.ts'
import { rowSize } from './space.ts'

/** Arrays by name that are written in place. */
export type NamedArrays = Readonly<Record<string, NumberArray>>

/** Copies of the arrays, as structured-cloneable data. */
export const saveArrays = (arrays: NamedArrays): Record<string, ArrayBuffer> =>
  Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice().buffer]))

/**
 * Writes saved copies back into the arrays.
 *
 * @throws AgogeError `checkpoint-mismatch`, naming the environment and the array. Nothing is written in this
 * case.
 */
export function restoreArrays(
  environment: string,
  arrays: NamedArrays,
  saved: Readonly<Record<string, ArrayBuffer>>,
): void {
  for (const [name, array] of Object.entries(arrays)) {
    const bytes = (saved[name] as ArrayBuffer | undefined)?.byteLength
    if (bytes === array.byteLength) continue
    throw new AgogeError(`A state that was saved does not fit ${environment}: ${name} has another size`, {
      code: 'checkpoint-mismatch',
      given: `${name}: ${bytes ?? 'no'} bytes`,
      expected: `${array.byteLength} bytes, as saved from a vector of the same environment and size`,
    })
  }
  for (const [name, array] of Object.entries(arrays))
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(new Uint8Array(saved[name]))
}

/**
 * When the next episode of an environment begins.
 * - `same-step`: in the step that ends the episode. `finalObservations` has the last observation.
 * - `next-step`: in the following step, which ignores the action and returns the first observation, reward 0
 * and no end. This is Gymnasium's default.
 * - `disabled`: when `reset` is called with a mask.
 */
export type Autoreset = 'same-step' | 'next-step' | 'disabled'

/** Options of `createVectorEnvironment`. */
export interface VectorOptions {
  numEnvs: number
  /**
   * Default: 0. The stream of an environment depends on its seed and its index, not on the number of
   * environments.
   */
  seed?: number
  /** Default: `same-step`. */
  autoreset?: Autoreset
  /** The context of the next episode of an environment. Default: the defaults of the features. */
  contextFor?: (envIndex: number, episode: number) => Context
  /** Time limit in steps; Infinity for none. Default: `maxSteps` of the definition. */
  maxSteps?: number
  /** The random stream of an environment. Default: the fast stream. */
  stream?: (seed: number, envIndex: number) => EnvironmentStream
}

/**
 * Many copies of an environment, stepped in one call. Row i of each array belongs to environment i. The vector
 * owns the arrays and overwrites them in each call. No call allocates memory.
 */
export interface VectorEnvironment {
  readonly definition: EnvironmentDefinition
  readonly autoreset: Autoreset
  /** [numEnvs, rowSize(action)]. Write the actions here, then call `step()`. */
  readonly actions: Float32Array
  /** [numEnvs, rowSize(observation)]. */
  readonly observations: Float32Array
  /** [numEnvs, rowSize(observation)]. The last observation of an episode that has just ended, before any reset. */
  readonly finalObservations: Float32Array
  readonly rewards: Float64Array
  readonly terminated: Uint8Array
  readonly truncated: Uint8Array
  /**
   * [numEnvs, n], 1 = allowed. Empty for environments without masks. The choices of a multi-discrete action are
   * concatenated.
   */
  readonly actionMask: Uint8Array
  /** The mask of the last state of an episode that has just ended, before any reset. */
  readonly finalActionMask: Uint8Array
  /** [numEnvs]. Return so far of the current episode, or of the episode that has just ended. */
  readonly returns: Float64Array
  readonly lengths: Int32Array
  /** The arrays that the functions of the definition take, such as `draw`. */
  readonly envs: EnvArrays
  /** Begins new episodes: in all environments, or where `mask` is 1. A seed restarts all random streams first. */
  reset(options?: { seed?: number; mask?: Uint8Array }): void
  step(): void
  /**
   * Truncates the episode of an environment, as a time limit does. Call it between two steps. The next episode
   * begins as after any other end. If the last step terminated the episode, it counts as truncated too.
   */
  truncate(envIndex: number): void
  /** The complete state for exact resumption, as structured-cloneable data. */
  state(): VectorState
  restore(state: VectorState): void
}

/**
 * The complete state of a vector: its arrays by name, and the random stream and the episode count of each environment.
 */
export interface VectorState {
  arrays: Record<string, ArrayBuffer>
  streams: unknown[]
  episodes: number[]
  /** The state of the wrapped vector, if this is a wrapper. */
  inner?: VectorState
}

interface Kind<T> {
  new (buffer: ArrayBuffer): T
  readonly BYTES_PER_ELEMENT: number
}

/**
 * Allocates outside of the heap, also for short arrays. V8 reads these in half the time of arrays that it may
 * move.
 */
const zeros = <T>(Kind: Kind<T>, length: number): T =>
  new Kind(new ArrayBuffer(length * Kind.BYTES_PER_ELEMENT))

/**
 * Makes `numEnvs` copies of an environment. Call `reset` before the first `step`.
 *
 * @throws AgogeError `bad-argument` if `numEnvs` is not a positive integer; `reset-needed` from `step` before
 * `reset`
 *
 * @example
 * const vector = createVectorEnvironment(cartPole, { numEnvs: 8, seed: 1 })
 * vector.reset()
 * vector.actions.fill(1)
 * vector.step()
 * console.log(vector.rewards, vector.terminated)
 */
export function createVectorEnvironment(
  definition: EnvironmentDefinition,
  options: VectorOptions,
): VectorEnvironment {
  const {
    numEnvs: count,
    autoreset = 'same-step',
    contextFor,
    maxSteps = definition.maxSteps ?? Infinity,
  } = options
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new AgogeError('a vector needs environments', {
      code: 'bad-argument',
      given: count,
      expected: 'a positive integer',
    })
  }
  const width = rowSize(definition.observation)
  const choices = definition.mask === undefined ? 0 : maskSize(definition.name, definition.action)
  const features = Object.keys(definition.context).length
  const quick =
    autoreset === 'same-step' && definition.mask === undefined
      ? batched(definition, count, maxSteps)
      : undefined
  const envs: EnvArrays = {
    count,
    ...(quick?.arrays ?? {
      state: zeros(Float64Array, count * definition.stateSize),
      context: contextColumns(definition.context, count, () => zeros(Float64Array, count)),
      actions: zeros(Float32Array, count * rowSize(definition.action)),
      observations: zeros(Float32Array, count * width),
      rewards: zeros(Float64Array, count),
      terminated: zeros(Uint8Array, count),
    }),
    actionMask: zeros(Uint8Array, count * choices),
  }
  const finalObservations = zeros(Float32Array, count * width)
  const finalActionMask = zeros(Uint8Array, count * choices)
  const { truncated, returns, lengths, ended } = quick?.counts ?? {
    truncated: zeros(Uint8Array, count),
    returns: zeros(Float64Array, count),
    lengths: zeros(Int32Array, count),
    /** 1 where the episode has ended and the next one has not begun. */
    ended: zeros(Uint8Array, count),
  }
  const makeStream =
    options.stream ?? ((seed, envIndex) => fastStream('world', definition.name, seed, envIndex))
  let streams = Array.from({ length: count }, (_, i) => makeStream(options.seed ?? 0, i))
  let episodes = Array.from({ length: count }, () => 0)
  let begun = false
  const { step, observe, mask } = definition
  const { rewards, terminated, observations } = envs

  function begin(i: number): void {
    if (contextFor !== undefined || episodes[i] === 0)
      writeContext(
        envs.context,
        i,
        contextRow(definition.context, contextFor?.(i, episodes[i]), definition.name),
      )
    episodes[i]++
    definition.reset(envs, i, streams[i])
    observe(envs, i)
    mask?.(envs, i)
  }

  /** Called in the step after the end, so that return and length of the ended episode can be read before. */
  function startCount(i: number): void {
    returns[i] = 0
    lengths[i] = 0
    ended[i] = 0
  }

  function end(i: number): void {
    ended[i] = 1
    for (let k = i * width; k < (i + 1) * width; k++) finalObservations[k] = observations[k]
    for (let k = i * choices; k < (i + 1) * choices; k++) finalActionMask[k] = envs.actionMask[k]
    if (autoreset === 'same-step') begin(i)
  }

  function stepOne(i: number): void {
    step(envs, i, streams[i])
    observe(envs, i)
  }

  const { count: _, ...written } = envs
  /** All arrays for saved states, with contexts as rows. */
  const stored = () => ({
    ...written,
    context: contextRows(envs.context, count),
    finalObservations,
    finalActionMask,
    truncated,
    returns,
    lengths,
    ended,
  })

  return {
    definition,
    autoreset,
    actions: envs.actions,
    observations,
    finalObservations,
    rewards,
    terminated,
    truncated,
    actionMask: envs.actionMask,
    finalActionMask,
    returns,
    lengths,
    envs,
    reset({ seed, mask: which } = {}) {
      if (seed !== undefined) {
        streams = streams.map((_, i) => makeStream(seed, i))
        episodes = episodes.map(() => 0)
      }
      for (let i = 0; i < count; i++) {
        if (which !== undefined && which[i] !== 1) continue
        begin(i)
        startCount(i)
        rewards[i] = 0
        terminated[i] = 0
        truncated[i] = 0
      }
      begun = true
    },
    step() {
      if (!begun) {
        throw new AgogeError(`${definition.name} was stepped before it was reset`, {
          code: 'reset-needed',
          hint: 'call reset() first',
        })
      }
      if (quick !== undefined) {
        quick.step(stepOne, end)
        return
      }
      for (let i = 0; i < count; i++) {
        if (ended[i] === 1) {
          if (autoreset === 'disabled') throw notReset(definition.name, i)
          startCount(i)
          if (autoreset === 'next-step') {
            begin(i)
            rewards[i] = 0
            terminated[i] = 0
            truncated[i] = 0
            continue
          }
        }
        stepOne(i)
        returns[i] += rewards[i]
        const over = ++lengths[i] >= maxSteps
        truncated[i] = over ? 1 : 0
        mask?.(envs, i)
        if (over || terminated[i] === 1) end(i)
      }
    },
    truncate(i) {
      truncated[i] = 1
      if (ended[i] === 0) end(i)
    },
    state: () => ({
      arrays: saveArrays(stored()),
      streams: streams.map((stream) => stream.state()),
      episodes: [...episodes],
    }),
    restore(state) {
      const arrays = stored()
      restoreArrays(definition.name, arrays, state.arrays)
      for (let i = 0; i < count; i++)
        writeContext(envs.context, i, arrays.context.subarray(i * features, (i + 1) * features))
      streams.forEach((stream, i) => stream.restore(state.streams[i]))
      episodes = [...state.episodes]
      begun = true
    },
  }
}

function notReset(environment: string, envIndex: number): AgogeError {
  return new AgogeError(`environment ${envIndex} of ${environment} has ended and was not reset`, {
    code: 'reset-needed',
    given: 'a step of an ended environment, with autoreset disabled',
    expected: 'reset({ mask }) with 1 for that environment',
  })
}

/**
 * A vector whose calls return at once (`VectorEnvironment`) or return promises (`AsyncVectorEnvironment`).
 * Wrappers, learners and loops take both. They await a call only if it returns a promise, so synchronous
 * vectors lose no speed.
 */
export interface AnyVector extends Omit<VectorEnvironment, 'reset' | 'step' | 'truncate'> {
  reset(options?: { seed?: number; mask?: Uint8Array; signal?: AbortSignal }): void | Promise<void>
  step(options?: { signal?: AbortSignal }): void | Promise<void>
  truncate(envIndex: number): void | Promise<void>
}

/** Runs `next` after a call of a vector: at once, or when the promise of the call resolves. */
export function afterwards(
  called: void | Promise<void>,
  next: () => void | Promise<void>,
): void | Promise<void> {
  return called instanceof Promise ? called.then(next) : next()
}

/**
 * Checks that `finalObservations` has the last observation of each episode. Callers that treat every row of a
 * step as a transition need this.
 *
 * @param who needs it, for the message
 * @throws AgogeError `bad-argument` if `autoreset` is not `same-step`
 */
export function requireSameStep(
  { definition, autoreset }: Pick<VectorEnvironment, 'definition' | 'autoreset'>,
  who: string,
): void {
  if (autoreset === 'same-step') return
  throw new AgogeError(`${who} needs episodes of ${definition.name} that begin in the step that ends one`, {
    code: 'bad-argument',
    given: autoreset,
    expected: "autoreset: 'same-step'",
    hint: 'Make the vector environment without the option autoreset',
  })
}
