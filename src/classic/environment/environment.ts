import type { Context, ContextSpace } from './context.ts'
import type { Member, Space } from './space.ts'

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

/** What an asynchronous call is told beside its arguments. */
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
