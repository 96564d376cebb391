import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { maskSize } from './action-masks.ts'
import { contextRow, contextColumns, writeContext } from './context.ts'
import type { ContextColumns, ContextSpace } from './context.ts'
import type { EnvironmentRandom, EnvArrays, EnvironmentDefinition } from './definition.ts'
import { fastStream } from './environment-random.ts'
import { rowSize, box, discrete, multiBinary, multiDiscrete } from './space.ts'
import type { ArraySpace } from './space.ts'
import type { VectorOptions } from './vector.ts'
import type { NumberArray } from './space-values.ts'

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

/**
 * Turns an environment of several agents into one that every single-agent algorithm can learn: each agent is a row of
 * the vector, and the rows `g * agents` to `g * agents + agents - 1` play one episode. One policy with shared
 * parameters acts for all agents and treats the others as part of the environment. With PPO this is IPPO (de Witt et
 * al. 2020, arXiv:2011.09533).
 *
 * An agent's number is part of its observation: a discrete space of n becomes one of agents * n, a multi-discrete
 * space gets one more number, boxes (flattened) and bits get a one-hot vector. All agents of an episode share its
 * state and its context, which are those of its first row, and end with it. `numEnvs` counts rows, so it has to be a
 * multiple of the number of agents; steps count the steps of agents.
 *
 * Unlike other definitions, its functions write the rows of the whole episode, and `checkEnvironment` reports that.
 *
 * @throws AgogeError `bad-argument` from `reset` where `numEnvs` is no multiple of the number of agents
 *
 * @example
 * const definition = independentAgents(rendezvous)
 * const { summary } = await trainClassic({ definition, algorithm: ppo({ ...ppoPresets.cleanrl }), numEnvs: 8, steps: 50_000 })
 */
export function independentAgents(definition: MultiAgentDefinition): EnvironmentDefinition {
  const { name, agents, action, context, stateSize, mask } = definition
  const numAgents = agents.length
  const width = rowSize(definition.observation)
  const actionWidth = rowSize(action)
  const choices = mask === undefined ? 0 : maskSize(name, action)
  const observation = withAgentNumber(definition.observation, numAgents)
  const rowWidth = rowSize(observation)
  /** The arrays of one episode: filled from its rows before each call, so that nothing is stored between calls. */
  const episode: AgentArrays = {
    count: 1,
    agents: numAgents,
    state: new Float64Array(stateSize),
    context: contextColumns(context, 1),
    actions: new Float32Array(numAgents * actionWidth),
    observations: new Float32Array(numAgents * width),
    rewards: new Float64Array(numAgents),
    terminated: new Uint8Array(1),
    actionMask: new Uint8Array(numAgents * choices),
  }
  const features = Object.keys(context)

  /** Every row has a copy of the state, so that a row can show the last observation after another has begun anew. */
  function load(envs: EnvArrays, i: number): AgentArrays {
    copy(envs.state, i * stateSize, episode.state, 0, stateSize)
    for (const feature of features) episode.context[feature][0] = envs.context[feature][i]
    return episode
  }

  function save(envs: EnvArrays, i: number): void {
    copy(episode.state, 0, envs.state, i * stateSize, stateSize)
  }

  return {
    name,
    agentNames: agents,
    observation,
    action,
    context,
    stateSize,
    ...defined({ maxSteps: definition.maxSteps }),
    reset(envs, i, random) {
      const first = i - (i % numAgents)
      if (envs.count % numAgents !== 0) throw notWhole(definition, envs.count)
      if (i === first) {
        definition.reset(load(envs, i), 0, random)
        save(envs, i)
        return
      }
      copy(envs.state, first * stateSize, envs.state, i * stateSize, stateSize)
      for (const feature of features) envs.context[feature][i] = envs.context[feature][first]
    },
    step(envs, i, random) {
      // The first row steps the episode for all its rows.
      if (i % numAgents !== 0) return
      load(envs, i)
      copy(envs.actions, i * actionWidth, episode.actions, 0, episode.actions.length)
      definition.step(episode, 0, random)
      for (let agent = 0; agent < numAgents; agent++) {
        save(envs, i + agent)
        envs.rewards[i + agent] = episode.rewards[agent]
        envs.terminated[i + agent] = episode.terminated[0]
      }
    },
    observe(envs, i) {
      const agent = i % numAgents
      definition.observe(load(envs, i), 0)
      const row = i * rowWidth
      copy(episode.observations, agent * width, envs.observations, row, width)
      writeAgentNumber(definition.observation, envs.observations, row, agent, numAgents)
    },
    ...(mask === undefined
      ? {}
      : {
          mask(envs: EnvArrays, i: number) {
            mask(load(envs, i), 0)
            copy(episode.actionMask, (i % numAgents) * choices, envs.actionMask, i * choices, choices)
          },
        }),
  }
}

/** The rows of whole episodes: at least `numEnvs`, a multiple of the number of agents that share an episode. */
export function wholeEpisodes(
  { agentNames = [''] }: Pick<EnvironmentDefinition, 'agentNames'>,
  numEnvs: number,
): number {
  return Math.ceil(numEnvs / agentNames.length) * agentNames.length
}

function withAgentNumber(space: ArraySpace, agents: number): ArraySpace {
  switch (space.type) {
    case 'discrete':
      return discrete(space.n * agents, space.start)
    case 'multi-discrete':
      return multiDiscrete([...space.counts, agents])
    case 'multi-binary':
      return multiBinary(space.n + agents)
    case 'box': {
      const bounds = (inner: Float64Array, bound: number): Float64Array =>
        Float64Array.of(...inner, ...Array.from({ length: agents }, () => bound))
      return box([space.low.length + agents], bounds(space.low, 0), bounds(space.high, 1), space.dtype)
    }
  }
}

/** Completes a row whose first numbers are the agent's own observation. */
function writeAgentNumber(
  space: ArraySpace,
  observations: Float32Array,
  row: number,
  agent: number,
  agents: number,
): void {
  const end = row + rowSize(space)
  if (space.type === 'discrete') observations[row] += agent * space.n
  else if (space.type === 'multi-discrete') observations[end] = agent
  else for (let k = 0; k < agents; k++) observations[end + k] = k === agent ? 1 : 0
}

function copy(from: NumberArray, start: number, to: NumberArray, place: number, length: number): void {
  for (let k = 0; k < length; k++) to[place + k] = from[start + k]
}

function notWhole({ name, agents }: MultiAgentDefinition, count: number): AgogeError {
  return new AgogeError(`${name} has ${agents.length} agents, which cannot share ${count} rows`, {
    code: 'bad-argument',
    given: { numEnvs: count },
    expected: `a multiple of ${agents.length}: each agent is a row of the vector`,
    hint: `use numEnvs ${wholeEpisodes({ agentNames: agents }, count)}`,
  })
}
