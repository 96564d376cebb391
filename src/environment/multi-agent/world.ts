import type { ContextSpace } from '../context.ts'
import type { ArraySpace } from '../space.ts'
import type { Drawing, WorldRandom } from '../world.ts'

/** The typed arrays of all slots of a world of several agents. A world's functions write in place. */
export interface AgentSlots {
  readonly count: number
  readonly agents: number
  /** [count, stateSize]. */
  readonly state: Float64Array
  /** [count, features], in the order of the context space. */
  readonly context: Float64Array
  /** [count, agents, rowSize(action)]; those of agents that do not act are not looked at. */
  readonly actions: Float32Array
  /** [count, agents, rowSize(observation)]. */
  readonly observations: Float32Array
  /** [count, agents]; written by every step for all agents. */
  readonly rewards: Float64Array
  /** [count]; 1 where the task itself has ended, for all. */
  readonly terminated: Uint8Array
  /** [count, agents]; 1 = acts in the next step: 0 for those that are out, and for those who wait for their turn. */
  readonly agentMask: Uint8Array
  /** [count, agents, n]; 1 = allowed. Empty for worlds without `mask`. */
  readonly actionMask: Uint8Array
}

/**
 * A world of several agents with the same spaces, written once as functions over slot `i` of typed arrays, as `World` is
 * for one. In each step all agents of `agentMask` act at once; a game of turns is a world in which that is one agent.
 * The parallel form, the turn form and the vector follow. No function keeps anything between calls.
 *
 * What a central critic may see is the row of all agents' observations, [agents, rowSize(observation)].
 */
export interface MultiAgentWorld<C extends ContextSpace = ContextSpace> {
  readonly name: string
  /** Names of the agents, in the order of the arrays. */
  readonly agents: readonly string[]
  readonly observation: ArraySpace
  readonly action: ArraySpace
  readonly context: C
  readonly stateSize: number
  readonly maxSteps?: number
  readonly reset: (slots: AgentSlots, i: number, random: WorldRandom) => void
  /**
   * From state and actions to the next state, rewards and `terminated`. Throws `invalid-action` where a move is
   * against the rules, and then leaves all as it was.
   */
  readonly step: (slots: AgentSlots, i: number, random: WorldRandom) => void
  /** Writes what each agent observes. */
  readonly observe: (slots: AgentSlots, i: number) => void
  /** Writes `agentMask`. Without it all agents always act. */
  readonly acting?: (slots: AgentSlots, i: number) => void
  /** Writes the actions that each agent is allowed, for discrete actions. */
  readonly mask?: (slots: AgentSlots, i: number) => void
  readonly draw?: (slots: AgentSlots, i: number) => Drawing
  readonly text?: (slots: AgentSlots, i: number) => string
}

/** Checks nothing, infers the features: so that a world is written with its types. */
export const defineMultiAgentWorld = <C extends ContextSpace>(
  world: MultiAgentWorld<C>,
): MultiAgentWorld<C> => world
