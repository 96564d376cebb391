import { defined } from '../../defined.ts'
import { hash32 } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
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
import { patience, reportStep, yieldToEventLoop } from './learn-until.ts'

/** Objects that play at once, at most; those whose calls take time wait together. */
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
 * Whole episodes in users' objects, each object playing one after the other; an episode's reset is given a seed of its own,
 * so that it is the same whichever object plays it. Objects that a factory made are closed.
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

/** Steps after which an episode is cut off in an environment that has no limit of its own: a stuck policy goes on for ever. */
export const cutOffAfter = 10_000

export interface EvaluateAgentOptions {
  /** Default 100. */
  episodes?: number
  /** Default 0. The episodes of a seed are the same whenever and by whomever they are played. */
  seed?: number
  /** The context of an episode. */
  contextFor?: (episode: number) => Context
  /** Default: the environment's own limit, or 10 000 steps where it has none. */
  maxSteps?: number
  /**
   * Puts what is played in behind the wrappers that the agent was trained behind. Returns stay those of the environment, whatever
   * they make of rewards.
   */
  wrap?: (environment: AnyVector) => AnyVector
  signal?: AbortSignal
}

/** Returns and lengths [episodes] in steps. */
export interface Played {
  returns: Float64Array
  lengths: Int32Array
  /** Episodes that did not end within `maxSteps`, in an environment without a limit of its own: their returns are partial. */
  cutOff: number
}

/**
 * Plays whole episodes by the greedy policy (`agent.decide`), each in an environment of its own, so that short episodes do not
 * count more often than long ones. Training is not touched: the streams are others. Now and then whatever waits has its turn.
 *
 * Instead of an environment it takes an object with `reset` and `step`, synchronous or not, which plays one episode after the other,
 * or a function that makes such objects, of which eight play at once.
 *
 * @throws AgogeError naming environment, step, index and field, for numbers that are none and actions that the environment does not have; the reason of `signal` where that is aborted.
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
  const envs = createVectorEnvironment(definition, {
    numEnvs: episodes,
    seed,
    maxSteps,
    stream: (seed, envIndex) => fastStream('evaluation', definition.name, seed, envIndex),
    ...(contextFor === undefined ? {} : { contextFor: (envIndex) => contextFor(envIndex) }),
  })
  const environment = wrap?.(envs) ?? envs
  const resetting = environment.reset()
  if (resetting instanceof Promise) await resetting
  checkStep(environment, 0)
  const { observations, actions, actionMask, terminated, truncated } = environment
  const mask = actionMask.length > 0 ? actionMask : undefined
  const returns = new Float64Array(episodes)
  const lengths = new Int32Array(episodes)
  const { memorySize = 0 } = agent
  const memory = new Float32Array(episodes * memorySize)
  let cutOff = 0
  let left = episodes
  let rested = performance.now()
  for (let step = 1; left > 0; step++) {
    try {
      agent.predict(observations, episodes, actions, mask, memory)
    } catch (error) {
      throw reportStep(error, definition.name, step)
    }
    checkActions(environment, step)
    const stepping = environment.step()
    if (stepping instanceof Promise) await stepping
    checkStep(environment, step)
    for (let i = 0; i < episodes; i++) {
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
  return { returns, lengths, cutOff }
}

/** What has to be said of an evaluation whose episodes did not all end; undefined where they did. */
export const cutOffNote = (
  definition: Pick<EnvironmentDefinition, 'name'>,
  { cutOff, lengths }: Played,
): string | undefined =>
  cutOff === 0
    ? undefined
    : `warning: ${cutOff} of ${lengths.length} episodes of ${definition.name}, which has no limit of steps, had not ended after ${cutOffAfter} steps and were cut off`
