import type { ContextSpace } from '../context.ts'
import type { ResetOptions } from '../environment.ts'
import type { Member, Space } from '../space.ts'

/** One value an agent, by name. */
export type ByAgent<T> = Readonly<Record<string, T>>

/** What both forms have. */
interface ManyAgents<O extends Space, A extends Space> {
  readonly name?: string
  /** All who may take part, in a fixed order. */
  readonly agents: readonly string[]
  /** Of every agent. */
  readonly observationSpace: O
  readonly actionSpace: A
  readonly contextSpace?: ContextSpace
  /** For discrete actions: 1 for each that an agent is allowed now. */
  actionMask?(agent: string): ArrayLike<number>
  close?(): void
}

export interface ParallelReset<O extends Space> {
  observations: ByAgent<Member<O>>
  /** Those whose actions the next step takes; none once the episode is over. */
  acting: readonly string[]
}

export interface ParallelStep<O extends Space> extends ParallelReset<O> {
  /** Of all agents, also those who did not act. */
  rewards: ByAgent<number>
  terminated: boolean
  truncated: boolean
}

/** Several agents, of whom all in `acting` act at once (the parallel form of PettingZoo; Terry et al. 2021). */
export interface ParallelEnvironment<O extends Space = Space, A extends Space = Space> extends ManyAgents<
  O,
  A
> {
  reset(options?: ResetOptions): ParallelReset<O>
  /** Takes one action of each agent in `acting`, no more and no less. */
  step(actions: ByAgent<Member<A>>): ParallelStep<O>
}

export interface Turn {
  /** Who acts next; `null` once the episode is over. */
  agent: string | null
  /** Those who have to act before the environment moves on, the next one first: several where they act at once. */
  acting: readonly string[]
  /** Of all agents, for the action just taken. */
  rewards: ByAgent<number>
  terminated: boolean
  truncated: boolean
}

/** Several agents who act one after the other. */
export interface TurnEnvironment<O extends Space = Space, A extends Space = Space> extends ManyAgents<O, A> {
  reset(options?: ResetOptions): Turn
  /** Takes the action of the agent whose turn it is. */
  step(action: Member<A>): Turn
  /** What an agent sees now, also at the end. */
  observe(agent: string): Member<O>
}
