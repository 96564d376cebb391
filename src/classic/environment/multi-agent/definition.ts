import type { ContextSpace } from '../context.ts'
import type { ArraySpace } from '../space.ts'
import type { Drawing, EnvironmentRandom } from '../definition.ts'

/** The typed arrays of all slots of an environment of several agents. An environment's functions write in place. */
export interface AgentArrays {
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
  /** [count, agents, n]; 1 = allowed. Empty for environments without `mask`. */
  readonly actionMask: Uint8Array
}

/**
 * An environment of several agents with the same spaces, written once as functions over slot `i` of typed arrays, as `Environment` is
 * for one. In each step all agents of `agentMask` act at once; a game of turns is an environment in which that is one agent.
 * The parallel form, the turn form and the vector follow. No function keeps anything between calls.
 *
 * What a central critic may see is the row of all agents' observations, [agents, rowSize(observation)].
 */
export interface MultiAgentDefinition<C extends ContextSpace = ContextSpace> {
  readonly name: string
  /** Names of the agents, in the order of the arrays. */
  readonly agents: readonly string[]
  readonly observation: ArraySpace
  readonly action: ArraySpace
  readonly context: C
  readonly stateSize: number
  readonly maxSteps?: number
  readonly reset: (numEnvs: AgentArrays, i: number, random: EnvironmentRandom) => void
  /**
   * From state and actions to the next state, rewards and `terminated`. Throws `invalid-action` where a move is
   * against the rules, and then leaves all as it was.
   */
  readonly step: (numEnvs: AgentArrays, i: number, random: EnvironmentRandom) => void
  /** Writes what each agent observes. */
  readonly observe: (numEnvs: AgentArrays, i: number) => void
  /** Writes `agentMask`. Without it all agents always act. */
  readonly acting?: (numEnvs: AgentArrays, i: number) => void
  /** Writes the actions that each agent is allowed, for discrete actions. */
  readonly mask?: (numEnvs: AgentArrays, i: number) => void
  readonly draw?: (numEnvs: AgentArrays, i: number) => Drawing
  readonly text?: (numEnvs: AgentArrays, i: number) => string
}

/** Checks nothing, infers the features: so that an environment is written with its types. */
export const defineMultiAgentEnvironment = <C extends ContextSpace>(
  definition: MultiAgentDefinition<C>,
): MultiAgentDefinition<C> => definition
