import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { type Context, contextRow, type ContextSpace } from './context.ts'
import type { EnvironmentDefinition } from './definition.ts'
import { numpyEnvStream } from './environment-random.ts'
import { explainMismatch } from './space-contains.ts'
import { readRow, writeRow } from './space-values.ts'
import { type ArraySpace, describeSpace, type Member, type Space } from './space.ts'
import { createVectorEnvironment, type VectorEnvironment, type VectorState } from './vector.ts'

/** What an environment says beside its observations; nothing that a policy may need. */
export type Info = Readonly<Record<string, unknown>>

export interface ResetOptions {
  /** Starts the random stream anew; without it the stream goes on. */
  seed?: number
  /** The context of the episode that begins; features left out have their defaults. */
  context?: Context
  /** Whatever else an environment understands. */
  options?: Readonly<Record<string, unknown>>
}

export interface ResetResult<O> {
  observation: O
  info?: Info
}

/**
 * `terminated`: the task itself has ended, so that the state has no future value. `truncated`: the episode was cut short
 * from outside, as by a time limit. Both may hold at once.
 */
export interface StepResult<O> extends ResetResult<O> {
  reward: number
  terminated: boolean
  truncated: boolean
}

/**
 * One environment with Gymnasium's semantics: `reset`, then `step` until an episode has terminated or is truncated, then
 * `reset` again. Any object of this form can be used wherever environments can: see `vectorFrom`.
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
  /** For errors and reports. */
  readonly name?: string
  readonly observationSpace: O
  readonly actionSpace: A
  readonly contextSpace?: ContextSpace
  reset(options?: ResetOptions): ResetResult<Member<O>>
  step(action: Member<A>): StepResult<Member<O>>
  /** For choices: 1 for each that is allowed now; those of several numbers stand one after another. */
  actionMask?(): ArrayLike<number>
  /** Everything needed to go on exactly here, as structured-cloneable data. */
  state?(): unknown
  restore?(state: unknown): void
  close?(): void
}

/** What an asynchronous call gets beside its arguments. */
export interface CallOptions {
  /** Aborted at the deadline of the call, and where the caller no longer wants it. */
  signal: AbortSignal
  /** Names the call, so that one that is repeated can be recognised and answered without acting twice. */
  id: string
}

/** An environment whose calls take time: a server, a browser, another process. */
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

export interface EnvironmentOptions {
  /** Of the stream until a reset brings one. Default 0. */
  seed?: number
  /** The context of episodes whose reset brings none. Default: the defaults of the environment. */
  context?: Context
  /** Instead of the environment's own limit; Infinity for none. */
  maxSteps?: number
  /** `numpy`: chance as in Gymnasium, for parity. Default `fast`. */
  seeding?: 'fast' | 'numpy'
}

/** An environment as one environment. */
export interface DefinedEnvironment extends Environment<ArraySpace, ArraySpace> {
  readonly name: string
  readonly contextSpace: ContextSpace
  readonly definition: EnvironmentDefinition
  /** The vector of one that this environment is: for drawing, and for environments' own functions. */
  readonly vector: VectorEnvironment
  /** With `options: { state }`, the episode begins in that row of the environment's state instead of a random one. */
  reset(options?: ResetOptions): Required<ResetResult<Member<ArraySpace>>>
  /** Takes a number for a discrete action or a box of one number, else an array of numbers. */
  step(action: Member<ArraySpace> | number[]): Required<StepResult<Member<ArraySpace>>>
  state(): VectorState
  restore(state: unknown): void
}

/**
 * One environment out of an environment, with Gymnasium's semantics: a seed is given once and the stream then goes on; the time
 * limit truncates, also an episode that terminates in the same step; observations are fresh copies (numbers where they
 * are discrete). `info` has `actionMask` for environments with masks, and at the end of an episode its `return` and `length`.
 *
 * `step` throws an AgogeError: `reset-needed` before the first reset and after the end, and, naming environment, step and field,
 * `shape-mismatch`, `not-a-number`, or `not-in-space` for a choice that does not exist. Bounds of a box are left to the environment,
 * as in Gymnasium, where some environments clip and others do not; loops that train and evaluate hold agents to them.
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
    throw new AgogeError(`options.state is no state of ${definition.name}`, {
      code: 'shape-mismatch',
      given,
      expected: `${definition.stateSize} numbers`,
    })
  }
  envs.state.set(state)
  definition.observe(envs, 0)
  definition.mask?.(envs, 0)
}
