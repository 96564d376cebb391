import type { ClassicAgent } from '../algorithm/agent.ts'
import { openVector } from '../environment/index.ts'
import type { AnyEnvironment, AnyVector, Context, EnvironmentFactory } from '../environment/index.ts'
import { hash32 } from '../../engine/random/index.ts'
import { checkActions, checkStep } from './check-step.ts'
import { reportStep } from './report-step.ts'
import { patience, yieldToEventLoop } from './yield-to-event-loop.ts'

/** Objects that play at once, at most; those whose calls take time wait together. */
const most = 8

export interface ObjectEpisodes {
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
export async function evaluateObjects(
  agent: Pick<ClassicAgent, 'predict' | 'memorySize'>,
  made: AnyEnvironment | EnvironmentFactory,
  { episodes, seed, maxSteps, contextFor, wrap, signal }: ObjectEpisodes,
): Promise<{ returns: Float64Array; lengths: Int32Array; cutOff: number }> {
  const returns = new Float64Array(episodes)
  const lengths = new Int32Array(episodes)
  let cutOff = 0
  let next = 0
  let rested = performance.now()

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
    const { observations, actions, actionMask, terminated, truncated, definition } = environment
    const mask = actionMask.length > 0 ? actionMask : undefined
    const memory = new Float32Array(agent.memorySize ?? 0)
    let step = 0
    try {
      for (; episode < episodes; episode = next++) {
        const resetting = environment.reset({ seed: hash32('evaluation', seed, episode) })
        if (resetting instanceof Promise) await resetting
        checkStep(environment, 0)
        memory.fill(0)
        for (step = 1; terminated[0] === 0 && truncated[0] === 0; step++) {
          agent.predict(observations, 1, actions, mask, memory)
          checkActions(environment, step)
          const stepping = environment.step()
          if (stepping instanceof Promise) await stepping
          checkStep(environment, step)
          if (performance.now() - rested < patience) continue
          await yieldToEventLoop()
          signal?.throwIfAborted()
          rested = performance.now()
        }
        returns[episode] = environment.returns[0]
        lengths[episode] = environment.lengths[0]
        if (terminated[0] === 0 && lengths[episode] >= maxSteps) cutOff++
      }
    } catch (error) {
      // The others stop after their episode.
      next = episodes
      throw reportStep(error, definition.name, step)
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
