import { createExpertActor } from '../agent/expert-actor.ts'
import type { EpisodeLimits, EpisodeSpec } from '../agent/episode-state.ts'
import { runEpisodes } from '../agent/turn-loop.ts'
import type { Expert, Task, ToolEnvironment } from '../agent/types.ts'
import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import { InfrastructureError } from '../tool/tool.ts'

/** The results of the calls so far. */
export type Results = Parameters<Expert>[0]
/** A call, or the final answer. */
export type Move = ReturnType<Expert>
/** A step of a script, which may depend on the results before it. */
export type Step = Move | ((results: Results) => Move)

export const call = (name: string, args: Record<string, unknown>): Move => ({
  call: { name, arguments: args },
})
export const say = (answer: string): Move => ({ answer })
export const moveOf = (step: Step, results: Results): Move =>
  typeof step === 'function' ? step(results) : step

/** Takes the steps in order, whatever they return, then gives the answer. */
export function script(steps: readonly Step[], answer: Step): Expert {
  return (results) => moveOf(steps[results.length] ?? answer, results)
}

/** What was seen of an episode from outside. States are absent if the session does not show them. */
export interface Watched {
  episode: Episode
  /** The calls in order, without those that the schema refused. */
  calls: { name: string; arguments: Record<string, unknown>; text: string; isError: boolean }[]
  start?: unknown
  /** The state after each call. Only if asked for. */
  states: unknown[]
  end?: unknown
  answer: string | null
  /** Whether the session shows its state. */
  shown: boolean
}

export interface PlayOptions {
  limits: EpisodeLimits
  /** Observes the state after each call too. Default: false. */
  eachState?: boolean
  signal?: AbortSignal
}

/**
 * Plays a script for each task, in the environment itself, and records the state at the start and the end. Every fault that
 * a script provokes masks its own episode only.
 */
export async function playScripts(
  environment: ToolEnvironment,
  plays: readonly { task: Task; script: Expert }[],
  { limits, eachState = false, signal }: PlayOptions,
): Promise<Watched[]> {
  const records = new Map<Task, Omit<Watched, 'episode'>>()
  const originals = new Map<Task, Task>()
  const specs = plays.map(({ task }, at): EpisodeSpec => {
    // A copy for each episode, so that the session can be told from others of the same task.
    const own = { ...task }
    originals.set(own, task)
    records.set(own, { calls: [], states: [], answer: null, shown: false })
    return { id: `${at}`, group: task.id, task: own }
  })
  const watched: ToolEnvironment = {
    ...environment,
    tools: environment.tools,
    async open(task, options) {
      const record = records.get(task) as Omit<Watched, 'episode'>
      const session = await environment.open(originals.get(task) as Task, options)
      const look = async (): Promise<unknown> => session.observe?.()
      record.shown = session.observe !== undefined
      record.start = await look()
      return {
        specs: session.specs,
        async call(name, args, callOptions) {
          const result = await contained(() => session.call(name, args, callOptions))
          record.calls.push({ name, arguments: args, text: result.text, isError: result.isError })
          if (eachState) record.states.push(await look())
          return result
        },
        async judge(outcome) {
          record.answer = outcome.answer
          record.end = await look()
          return contained(() => session.judge(outcome))
        },
        close: () => session.close(),
      }
    },
  }
  const actor = createExpertActor({
    tasks: new Map(plays.map(({ script }, at) => [`${at}`, { plan: harmless(script) }])),
  })
  const episodes = await runEpisodes(specs, actor, watched, limits, signal === undefined ? {} : { signal })
  return specs.map(({ task }, at) => ({
    episode: episodes[at],
    ...(records.get(task) as Omit<Watched, 'episode'>),
  }))
}

/** A user's mistake ends a run. Here it was provoked, so it is a fault of this episode. */
async function contained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Without calls left nothing more can be found out.
    if (AgogeError.isInstance(error) && error.code !== 'call-budget')
      throw new InfrastructureError(error.message, { cause: error })
    throw error
  }
}

/** An expert's plan may throw where a changed call gave it another result. */
function harmless(script: Expert): Expert {
  return (results) => {
    try {
      return script(results)
    } catch {
      return { answer: 'done' }
    }
  }
}
