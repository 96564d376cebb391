import { defined } from '../../defined.ts'
import { hash32 } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import { yieldToEventLoop } from '../../event-loop.ts'
import { average } from '../../statistics/statistics.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'
import {
  type AnyEnvironment,
  type AnyVector,
  type Context,
  createVectorEnvironment,
  type EnvironmentDefinition,
  type EnvironmentFactory,
  fastStream,
  isEnvironmentDefinition,
  openVector,
  type Playable,
} from '../environment/index.ts'
import { checkActions, checkStep } from './check-step.ts'
import { patience, reportStep } from './learn-until.ts'

/** Most objects that play concurrently. Asynchronous objects wait at the same time. */
const most = 8

interface ObjectEpisodes {
  episodes: number
  seed: number
  maxSteps: number
  contextFor?: (episode: number) => Context
  wrap?: (environment: AnyVector) => AnyVector
  signal?: AbortSignal
}

/**
 * Plays whole episodes in users' objects. Each object plays one episode after another. Every episode has its own
 * seed, so that it is the same in whichever object it is played. Closes the objects that a factory made.
 */
async function evaluateObjects(
  agent: Pick<ClassicAgent, 'predict' | 'memorySize'>,
  made: AnyEnvironment | EnvironmentFactory,
  { episodes, seed, maxSteps, contextFor, wrap, signal }: ObjectEpisodes,
): Promise<{ returns: Float64Array; lengths: Int32Array; cutOff: number }> {
  const returns = new Float64Array(episodes)
  const lengths = new Int32Array(episodes)
  let cutOff = 0
  let next = 0
  const rest = { last: performance.now(), signal }

  async function play(object: number): Promise<void> {
    let episode = next++
    const opened = await openVector(typeof made === 'function' ? () => made(object) : made, {
      numEnvs: 1,
      autoreset: 'disabled',
      maxSteps,
      seedFor: (given) => given,
      ...(contextFor === undefined ? {} : { contextFor: () => contextFor(episode) }),
    })
    const environment = wrap?.(opened) ?? opened
    try {
      for (; episode < episodes; episode = next++) {
        await playEpisode(agent, environment, hash32('evaluation', seed, episode), rest)
        returns[episode] = environment.returns[0]
        lengths[episode] = environment.lengths[0]
        if (environment.terminated[0] === 0 && lengths[episode] >= maxSteps) cutOff++
      }
    } catch (error) {
      // The other objects stop after their episode.
      next = episodes
      throw error
    } finally {
      await opened.close()
    }
  }

  const objects = typeof made === 'function' ? Math.min(most, episodes) : 1
  const players = await Promise.allSettled(Array.from({ length: objects }, (_, object) => play(object)))
  const failed = players.find((player) => player.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return { returns, lengths, cutOff }
}

/** Plays one episode in the only environment of a vector, and yields to the event loop now and then. */
async function playEpisode(
  agent: Pick<ClassicAgent, 'predict' | 'memorySize'>,
  environment: AnyVector,
  seed: number,
  rest: { last: number; signal: AbortSignal | undefined },
): Promise<void> {
  const { observations, actions, actionMask, terminated, truncated, definition } = environment
  const mask = actionMask.length > 0 ? actionMask : undefined
  const memory = new Float32Array(agent.memorySize ?? 0)
  let step = 0
  try {
    const resetting = environment.reset({ seed })
    if (resetting instanceof Promise) await resetting
    checkStep(environment, 0)
    for (step = 1; terminated[0] === 0 && truncated[0] === 0; step++) {
      agent.predict(observations, 1, actions, mask, memory)
      checkActions(environment, step)
      const stepping = environment.step()
      if (stepping instanceof Promise) await stepping
      checkStep(environment, step)
      if (performance.now() - rest.last < patience) continue
      await yieldToEventLoop()
      rest.signal?.throwIfAborted()
      rest.last = performance.now()
    }
  } catch (error) {
    throw reportStep(error, definition.name, step)
  }
}

/** Default step limit of an episode, for environments without their own limit: a stuck policy would play for ever. */
export const cutOffAfter = 10_000

/** Options of `evaluateAgent`. */
export interface EvaluateAgentOptions {
  /** Number of episodes. Default: 100. */
  episodes?: number
  /** Default: 0. The same seed gives the same episodes. */
  seed?: number
  /** The context of each episode. Default: the defaults of the environment. */
  contextFor?: (episode: number) => Context
  /** Default: the environment's own limit, or 10 000 steps if it has none. */
  maxSteps?: number
  /** Wraps the environment as in training. The reported returns stay those of the unwrapped environment. */
  wrap?: (environment: AnyVector) => AnyVector
  signal?: AbortSignal
}

/** Returns [episodes], and lengths [episodes] in steps. */
export interface Played {
  returns: Float64Array
  lengths: Int32Array
  /** Of environments with several agents: the returns of each, by name. `returns` has the means over agents. */
  agents?: Readonly<Record<string, Float64Array>>
  /** Number of episodes cut off at `maxSteps` in an environment without its own limit. Their returns are partial. */
  cutOff: number
}

/**
 * Plays whole episodes with the greedy policy (`agent.predict`) and returns their returns and lengths. Each
 * episode has its own environment, so that short episodes do not count more often than long ones. Does not change
 * the training state: it uses its own random streams. Yields to the event loop now and then.
 *
 * Instead of an environment it takes an object with `reset` and `step`, synchronous or asynchronous, which plays
 * one episode after another, or a function that makes such objects, of which eight play concurrently.
 *
 * @throws AgogeError naming environment, step, index and field, for numbers that are not finite and actions
 * outside the space.
 * @throws the reason of `signal`, once it is aborted.
 * @example
 * const { returns } = await evaluateAgent(agent, cartPole, { episodes: 20 })
 */
export async function evaluateAgent(
  agent: Pick<ClassicAgent, 'predict' | 'memorySize'>,
  definition: Playable,
  options: EvaluateAgentOptions = {},
): Promise<Played> {
  const { episodes = 100, seed = 0, contextFor, wrap, signal } = options
  const maxSteps =
    options.maxSteps ?? (isEnvironmentDefinition(definition) ? definition.maxSteps : undefined) ?? cutOffAfter
  if (!(maxSteps >= 1)) {
    throw new AgogeError(
      `An episode of ${definition.name ?? 'an environment'} cannot have at most ${maxSteps} steps`,
      {
        code: 'bad-argument',
        given: maxSteps,
        expected: 'a number of at least 1',
      },
    )
  }
  return isEnvironmentDefinition(definition)
    ? evaluateInEnvironment(agent, definition, { ...options, episodes, seed, maxSteps })
    : evaluateObjects(agent, definition, {
        episodes,
        seed,
        maxSteps,
        ...defined({ contextFor, wrap, signal }),
      })
}

type Settled = EvaluateAgentOptions & { episodes: number; seed: number; maxSteps: number }

async function evaluateInEnvironment(
  agent: Pick<ClassicAgent, 'predict' | 'memorySize'>,
  definition: EnvironmentDefinition,
  { episodes, seed, maxSteps, contextFor, wrap, signal }: Settled,
): Promise<Played> {
  const { agentNames: agents = [''] } = definition
  const rows = episodes * agents.length
  await definition.load?.()
  const envs = createVectorEnvironment(definition, {
    numEnvs: rows,
    seed,
    maxSteps,
    stream: (seed, envIndex) => fastStream('evaluation', definition.name, seed, envIndex),
    ...(contextFor === undefined ? {} : { contextFor: (row) => contextFor(Math.floor(row / agents.length)) }),
  })
  const environment = wrap?.(envs) ?? envs
  const resetting = environment.reset()
  if (resetting instanceof Promise) await resetting
  checkStep(environment, 0)
  const { observations, actions, actionMask, terminated, truncated } = environment
  const mask = actionMask.length > 0 ? actionMask : undefined
  const returns = new Float64Array(rows)
  const lengths = new Int32Array(rows)
  const { memorySize = 0 } = agent
  const memory = new Float32Array(rows * memorySize)
  let cutOff = 0
  let left = rows
  let rested = performance.now()
  for (let step = 1; left > 0; step++) {
    try {
      agent.predict(observations, rows, actions, mask, memory)
    } catch (error) {
      throw reportStep(error, definition.name, step)
    }
    checkActions(environment, step)
    const stepping = environment.step()
    if (stepping instanceof Promise) await stepping
    checkStep(environment, step)
    for (let i = 0; i < rows; i++) {
      if (terminated[i] === 0 && truncated[i] === 0) continue
      memory.fill(0, i * memorySize, (i + 1) * memorySize)
      if (lengths[i] > 0) continue
      returns[i] = environment.returns[i]
      lengths[i] = environment.lengths[i]
      if (environment.definition.maxSteps === undefined && terminated[i] === 0) cutOff++
      left--
    }
    if (performance.now() - rested < patience) continue
    await yieldToEventLoop()
    signal?.throwIfAborted()
    rested = performance.now()
  }
  return definition.agentNames === undefined
    ? { returns, lengths, cutOff }
    : byAgent(definition.agentNames, { returns, lengths, cutOff })
}

/** Rows of agents as episodes. Agents of an episode end it at the same step. */
function byAgent(agents: readonly string[], { returns, lengths, cutOff }: Played): Played {
  const own = (agent: number): Float64Array => returns.filter((_, row) => row % agents.length === agent)
  const found = agents.map((name, agent) => [name, own(agent)] as const)
  return {
    returns: found[0][1].map(
      (_, episode) => found.reduce((sum, [, each]) => sum + each[episode], 0) / agents.length,
    ),
    lengths: lengths.filter((_, row) => row % agents.length === 0),
    agents: Object.fromEntries(found),
    cutOff: cutOff / agents.length,
  }
}

/** The mean return of each agent, by name; undefined for environments of one agent. */
export const agentReturns = ({ agents }: Pick<Played, 'agents'>): Record<string, number> | undefined =>
  agents && Object.fromEntries(Object.entries(agents).map(([name, values]) => [name, average(values)]))

/** A warning for an evaluation in which episodes were cut off; undefined if all ended. */
export const cutOffNote = (
  definition: Pick<EnvironmentDefinition, 'name'>,
  { cutOff, lengths }: Played,
): string | undefined =>
  cutOff === 0
    ? undefined
    : `warning: ${cutOff} of ${lengths.length} episodes of ${definition.name}, which has no limit of steps, had not ended after ${cutOffAfter} steps and were cut off`
