import { AgogeError } from '../../error.ts'
import { maskSize } from './action-masks.ts'
import { contextRow, contextColumns, writeContext } from './context.ts'
import type { ContextColumns, ContextSpace } from './context.ts'
import type { EnvironmentRandom } from './definition.ts'
import { fastStream } from './environment-random.ts'
import { rowSize } from './space.ts'
import type { ArraySpace } from './space.ts'
import type { VectorOptions } from './vector.ts'

/**
 * The typed arrays of a vector of environments with several agents. The functions of a definition write in
 * place.
 */
export interface AgentArrays<C extends ContextSpace = ContextSpace> {
  readonly count: number
  readonly agents: number
  /** [count, stateSize]. */
  readonly state: Float64Array
  /** One array [count] for each feature. */
  readonly context: ContextColumns<C>
  /** [count, agents, rowSize(action)]. */
  readonly actions: Float32Array
  /** [count, agents, rowSize(observation)]. */
  readonly observations: Float32Array
  /** [count, agents]. Every step writes the rewards of all agents. */
  readonly rewards: Float64Array
  /** [count]. 1 where the task itself has ended, for all agents. */
  readonly terminated: Uint8Array
  /** [count, agents, n], 1 = allowed, as in `EnvArrays`. Empty for environments without `mask`. */
  readonly actionMask: Uint8Array
}

/**
 * An environment of several agents with the same spaces, which all act in every step. As in an
 * `EnvironmentDefinition`, the functions work on index `i` of typed arrays and store nothing between calls.
 *
 * An episode ends for all agents at once. An agent that is out before the others gets reward 0 from then on, and `mask`
 * leaves it one choice.
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
  readonly reset: (envs: AgentArrays, i: number, random: EnvironmentRandom) => void
  /** Reads state and actions; writes the next state, the rewards and `terminated`. */
  readonly step: (envs: AgentArrays, i: number, random: EnvironmentRandom) => void
  /** Writes the observation of each agent. */
  readonly observe: (envs: AgentArrays, i: number) => void
  /** Writes which choices each agent has. Not for boxes. */
  readonly mask?: (envs: AgentArrays, i: number) => void
}

/**
 * The input of `defineMultiAgentEnvironment`: a definition whose functions are typed with the names of its
 * features.
 */
type MultiAgentSource<C extends ContextSpace> = Omit<
  MultiAgentDefinition<C>,
  'reset' | 'step' | 'observe' | 'mask'
> & {
  readonly reset: (envs: AgentArrays<C>, i: number, random: EnvironmentRandom) => void
  readonly step: (envs: AgentArrays<C>, i: number, random: EnvironmentRandom) => void
  readonly observe: (envs: AgentArrays<C>, i: number) => void
  readonly mask?: (envs: AgentArrays<C>, i: number) => void
}

/** Defines an environment of several agents. Its functions read the context features by name. */
export const defineMultiAgentEnvironment = <C extends ContextSpace>(
  source: MultiAgentSource<C>,
): MultiAgentDefinition<C> => source as MultiAgentDefinition<C>

/**
 * Many copies of an environment of several agents, stepped in one call. After an episode ends, the next one
 * begins in the same step. The vector owns the arrays and overwrites them in each call.
 */
export interface MultiAgentVector {
  readonly definition: MultiAgentDefinition
  /** [numEnvs, agents, rowSize(action)]. Write the actions here, then call `step()`. */
  readonly actions: Float32Array
  /** [numEnvs, agents, rowSize(observation)]. */
  readonly observations: Float32Array
  /** [numEnvs, agents]. */
  readonly rewards: Float64Array
  /** [numEnvs]. */
  readonly terminated: Uint8Array
  /** [numEnvs]: 1 where the time limit ended the episode. */
  readonly truncated: Uint8Array
  /** [numEnvs, agents, n], 1 = allowed. Empty for environments without masks. */
  readonly actionMask: Uint8Array
  readonly envs: AgentArrays
  /** Begins new episodes in all environments. A seed restarts all random streams first. */
  reset(options?: { seed?: number }): void
  step(): void
}

/**
 * Makes `numEnvs` copies of an environment of several agents. Call `reset` before the first `step`.
 *
 * @throws AgogeError `reset-needed` from `step` before `reset`
 */
export function createMultiAgentVector(
  definition: MultiAgentDefinition,
  {
    numEnvs: count,
    seed: firstSeed = 0,
    contextFor,
    maxSteps = definition.maxSteps ?? Infinity,
  }: Pick<VectorOptions, 'numEnvs' | 'seed' | 'contextFor' | 'maxSteps'>,
): MultiAgentVector {
  const agents = definition.agents.length
  const choices = definition.mask === undefined ? 0 : maskSize(definition.name, definition.action)
  const envs: AgentArrays = {
    count,
    agents,
    state: new Float64Array(count * definition.stateSize),
    context: contextColumns(definition.context, count),
    actions: new Float32Array(count * agents * rowSize(definition.action)),
    observations: new Float32Array(count * agents * rowSize(definition.observation)),
    rewards: new Float64Array(count * agents),
    terminated: new Uint8Array(count),
    actionMask: new Uint8Array(count * agents * choices),
  }
  const truncated = new Uint8Array(count)
  const lengths = new Int32Array(count)
  const episodes = new Int32Array(count)
  const streamsOf = (seed: number) =>
    Array.from({ length: count }, (_, i) => fastStream('world', definition.name, seed, i))
  let streams = streamsOf(firstSeed)
  let begun = false

  function begin(i: number): void {
    const context = contextFor?.(i, episodes[i]++)
    writeContext(envs.context, i, contextRow(definition.context, context, definition.name))
    lengths[i] = 0
    definition.reset(envs, i, streams[i])
    definition.observe(envs, i)
    definition.mask?.(envs, i)
  }

  return {
    definition,
    actions: envs.actions,
    observations: envs.observations,
    rewards: envs.rewards,
    terminated: envs.terminated,
    truncated,
    actionMask: envs.actionMask,
    envs,
    reset({ seed } = {}) {
      if (seed !== undefined) {
        streams = streamsOf(seed)
        episodes.fill(0)
      }
      for (let i = 0; i < count; i++) begin(i)
      begun = true
    },
    step() {
      if (!begun)
        throw new AgogeError(`${definition.name} was stepped before it was reset`, {
          code: 'reset-needed',
          hint: 'call reset() first',
        })
      for (let i = 0; i < count; i++) {
        definition.step(envs, i, streams[i])
        truncated[i] = ++lengths[i] >= maxSteps ? 1 : 0
        if (truncated[i] === 1 || envs.terminated[i] === 1) begin(i)
        else {
          definition.observe(envs, i)
          definition.mask?.(envs, i)
        }
      }
    },
  }
}
