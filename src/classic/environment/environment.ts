import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { type Context, contextRow, type ContextSpace } from './context.ts'
import type { EnvironmentDefinition } from './definition.ts'
import { numpyEnvStream } from './environment-random.ts'
import { explainMismatch, type ArraySpace, describeSpace, type Member, type Space } from './space.ts'
import { readRow, writeRow } from './space-values.ts'
import { createVectorEnvironment, type VectorEnvironment, type VectorState } from './vector.ts'

/** Diagnostic data beside an observation. Policies must not depend on it. */
export type Info = Readonly<Record<string, unknown>>

/** Options of `reset`. */
export interface ResetOptions {
  /** Restarts the random stream. Default: the stream continues. */
  seed?: number
  /** The context of the new episode. Default: the defaults of the features. */
  context?: Context
  /** Further options that the environment defines. */
  options?: Readonly<Record<string, unknown>>
}

/** The result of `reset`: the first observation of the episode. */
export interface ResetResult<O> {
  observation: O
  info?: Info
}

/**
 * `terminated`: the task itself has ended, so the state has no future value. `truncated`: something outside the
 * task, such as a time limit, ended the episode. Both may be true.
 */
export interface StepResult<O> extends ResetResult<O> {
  reward: number
  terminated: boolean
  truncated: boolean
}

/**
 * One environment with Gymnasium's semantics: call `reset`, then `step` until the episode terminates or is
 * truncated, then `reset` again. `vectorFrom` turns any object of this form into a vector environment.
 *
 * @example
 * const guess: Environment<DiscreteSpace, DiscreteSpace> = {
 *   observationSpace: discrete(1),
 *   actionSpace: discrete(2),
 *   reset: () => ({ observation: 0 }),
 *   step: (action) => ({ observation: 0, reward: action, terminated: true, truncated: false }),
 * }
 */
export interface Environment<O extends Space = Space, A extends Space = Space> {
  /** Used in errors and reports. Default: `environment`. */
  readonly name?: string
  readonly observationSpace: O
  readonly actionSpace: A
  readonly contextSpace?: ContextSpace
  reset(options?: ResetOptions): ResetResult<Member<O>>
  step(action: Member<A>): StepResult<Member<O>>
  /** 1 for each choice that is currently allowed. The choices of a multi-discrete action are concatenated. */
  actionMask?(): ArrayLike<number>
  /** The complete state for exact resumption, as structured-cloneable data. */
  state?(): unknown
  restore?(state: unknown): void
  close?(): void
}

/** Passed to an asynchronous call after its arguments. */
export interface CallOptions {
  /** Aborts when the call passes its deadline or the caller cancels it. */
  signal: AbortSignal
  /** Identifies the call. A repeated call has the same id, so a server can answer it without acting twice. */
  id: string
}

/** An environment with asynchronous calls: a server, a browser, another process. */
export interface AsyncEnvironment<O extends Space = Space, A extends Space = Space> {
  readonly name?: string
  readonly observationSpace: O
  readonly actionSpace: A
  readonly contextSpace?: ContextSpace
  reset(options?: ResetOptions & Partial<CallOptions>): Promise<ResetResult<Member<O>>>
  step(action: Member<A>, call?: CallOptions): Promise<StepResult<Member<O>>>
  actionMask?(): ArrayLike<number>
  state?(): unknown
  restore?(state: unknown): void
  close?(): void | Promise<void>
}

/** Options of `createEnvironment`. */
export interface EnvironmentOptions {
  /** Seed of the random stream until a reset gives another one. Default: 0. */
  seed?: number
  /** The context of episodes whose reset gives none. Default: the defaults of the features. */
  context?: Context
  /** Time limit in steps; Infinity for none. Default: `maxSteps` of the definition. */
  maxSteps?: number
  /** `numpy` draws the same random numbers as Gymnasium. Default: `fast`. */
  seeding?: 'fast' | 'numpy'
}

/** A definition as a single environment. */
export interface DefinedEnvironment extends Environment<ArraySpace, ArraySpace> {
  readonly name: string
  readonly contextSpace: ContextSpace
  readonly definition: EnvironmentDefinition
  /** The vector of one environment behind this object, for drawing and for functions of the definition. */
  readonly vector: VectorEnvironment
  /**
   * With `options: { state }`, the episode starts in this state, an array of length `stateSize`, instead of a
   * random one.
   */
  reset(options?: ResetOptions): Required<ResetResult<Member<ArraySpace>>>
  /** Takes a number for a discrete action or a box of one number, otherwise an array of numbers. */
  step(action: Member<ArraySpace> | number[]): Required<StepResult<Member<ArraySpace>>>
  state(): VectorState
  restore(state: unknown): void
}

/**
 * Makes a single environment of a definition, with Gymnasium's semantics. A seed restarts the random stream;
 * later resets without a seed continue it. The time limit also truncates an episode that terminates in the same
 * step. Observations are fresh copies, or numbers for a discrete space. `info` contains `actionMask` for
 * environments with masks, and `return` and `length` at the end of an episode.
 *
 * Boxes: `step` does not check the bounds of an action, as in Gymnasium, where some environments clip and
 * others do not.
 *
 * @throws AgogeError from `step`: `reset-needed` before the first reset and after the end of an episode;
 * `shape-mismatch`, `not-a-number` or `not-in-space` for an invalid action. The message names the environment,
 * the step and the field.
 *
 * @example
 * const env = createEnvironment(cartPole, { seed: 1 })
 * const { observation } = env.reset()
 * let over = false
 * while (!over) {
 *   const { terminated, truncated } = env.step(1)
 *   over = terminated || truncated
 * }
 */
export function createEnvironment(
  definition: EnvironmentDefinition,
  options: EnvironmentOptions = {},
): DefinedEnvironment {
  let context = options.context ?? {}
  const { maxSteps, seeding, seed: firstSeed } = options
  const vector = createVectorEnvironment(definition, {
    numEnvs: 1,
    autoreset: 'disabled',
    contextFor: () => context,
    ...defined({ seed: firstSeed, maxSteps }),
    ...(seeding === 'numpy' ? { stream: numpyEnvStream } : {}),
  })
  const { envs, rewards, terminated, truncated } = vector
  const masked = envs.actionMask.length > 0
  const info = (): Info => (masked ? { actionMask: envs.actionMask.slice() } : {})

  return {
    name: definition.name,
    observationSpace: definition.observation,
    actionSpace: definition.action,
    contextSpace: definition.context,
    definition,
    vector,
    reset({ seed, context: given = options.context ?? {}, options: more = {} } = {}) {
      contextRow(definition.context, given, definition.name)
      context = given
      vector.reset(seed === undefined ? {} : { seed })
      if (more.state !== undefined) setState(vector, more.state)
      return { observation: readRow(definition.observation, vector.observations), info: info() }
    },
    step(action) {
      writeAction(vector, action)
      vector.step()
      const over = terminated[0] === 1 || truncated[0] === 1
      return {
        observation: readRow(definition.observation, vector.observations),
        reward: rewards[0],
        terminated: terminated[0] === 1,
        truncated: truncated[0] === 1,
        info: over ? { ...info(), return: vector.returns[0], length: vector.lengths[0] } : info(),
      }
    },
    ...(masked ? { actionMask: () => envs.actionMask.slice() } : {}),
    state: () => vector.state(),
    restore: (state) => vector.restore(state as VectorState),
  }
}

function writeAction({ definition, actions, lengths }: VectorEnvironment, action: unknown): void {
  const { name, action: space } = definition
  if (space.type === 'discrete') {
    const choice = action as number
    if (Number.isInteger(choice) && choice >= space.start && choice < space.start + space.n) {
      actions[0] = choice
      return
    }
  }
  const what = `${name}, step ${lengths[0] + 1}: action`
  const why = space.type === 'box' ? undefined : explainMismatch(space, action, what)
  if (why !== undefined)
    throw new AgogeError(why, { code: 'not-in-space', given: action, expected: describeSpace(space) })
  writeRow(space, action, actions, 0, what)
}

function setState({ definition, envs }: VectorEnvironment, given: unknown): void {
  const state = given as ArrayLike<number>
  if (
    state.length !== definition.stateSize ||
    Array.from(state).some((x) => typeof x !== 'number' || Number.isNaN(x))
  ) {
    throw new AgogeError(`options.state is not a state of ${definition.name}`, {
      code: 'shape-mismatch',
      given,
      expected: `${definition.stateSize} numbers`,
    })
  }
  envs.state.set(state)
  definition.observe(envs, 0)
  definition.mask?.(envs, 0)
}
