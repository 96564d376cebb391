import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import { forEachBounded } from './bounded.ts'
import { createEpisodeState } from './episode-state.ts'
import type { EpisodeLimits, EpisodeSpec, EpisodeState } from './episode-state.ts'
import { actOn, finish, open } from './turn-steps.ts'
import type { Actor, ToolEnvironment } from './types.ts'
import { createWaitClock } from './wait-clock.ts'

export interface TurnProgress {
  turn: number
  /** Episodes still going on, and all episodes of the wave. */
  live: number
  total: number
  /** Tokens sampled so far in all episodes of the wave. */
  sampledTokens: number
}

export interface RunOptions {
  signal?: AbortSignal
  onTurn?: (progress: TurnProgress) => void
  /** How many sessions work at the same time (open, call tools, judge). Default 16. */
  concurrency?: number
}

/**
 * Runs a wave of episodes in lockstep: each turn, all live episodes act in one batch in the order of `specs`, then
 * their calls run at the same time, then the next turn begins. So batches do not depend on which tool was fast.
 *
 * `ok`: ran to its end and was judged, successful or not. `failed`: the agent broke off by itself (turn or token limit);
 * judged too, and trains with its reward. `masked`: the fault was ours (a server crashed or hung, the actor could not be
 * reached, the run was aborted, the deadline of the clock passed, or the outcome could not be judged); it says why in
 * `error` and carries no reward. Faults of one episode leave the others alone.
 *
 * @throws AgogeError alone: a mistake of the user (a wrong key, a missing command) that no other episode would survive.
 * All sessions are closed before.
 */
export async function runEpisodes(
  specs: readonly EpisodeSpec[],
  actor: Actor,
  environment: ToolEnvironment,
  limits: EpisodeLimits,
  options: RunOptions = {},
): Promise<Episode[]> {
  const { signal, onTurn, concurrency = 16 } = options
  const waits = createWaitClock()
  const states = specs.map((spec) => createEpisodeState(spec, actor, environment, limits, waits))
  const each = (
    items: readonly EpisodeState[],
    work: (state: EpisodeState) => Promise<void>,
  ): Promise<void> => forEachBounded(items, concurrency, work)

  try {
    await each(states, (state) => open(state, environment, signal))
    for (let turn = 0; ; turn++) {
      const live = states.filter((state) => state.ending === undefined)
      if (live.length === 0) break
      for (const state of live) state.checkBefore(turn, signal)
      const going = live.filter((state) => state.ending === undefined)
      const acts = await askActor(going, turn, actor, environment, signal)
      await each(going, async (state) => {
        await actOn(state, acts[going.indexOf(state)], turn, signal)
      })
      await each(
        live.filter((state) => state.ending !== undefined),
        (state) => finish(state, signal),
      )
      onTurn?.({
        turn,
        live: live.filter((state) => state.ending === undefined).length,
        total: states.length,
        sampledTokens: states.reduce((sum, state) => sum + state.usage.sampledTokens, 0),
      })
    }
  } finally {
    await each(states, (state) => state.close())
  }
  return states.map((state) => state.toEpisode())
}

/** One act for each episode; where the actor as a whole fails, its error stands in every place. */
async function askActor(
  going: readonly EpisodeState[],
  turn: number,
  actor: Actor,
  environment: ToolEnvironment,
  signal: AbortSignal | undefined,
): Promise<Awaited<ReturnType<Actor['act']>>> {
  if (going.length === 0) return []
  const requests = going.map((state) => ({
    episode: state.spec.id,
    turn,
    nodes: state.nodes,
    tools: state.session?.specs ?? environment.tools,
  }))
  try {
    return await actor.act(requests, signal === undefined ? {} : { signal })
  } catch (error) {
    if (AgogeError.isInstance(error)) throw error
    return going.map(() => (error instanceof Error ? error : new Error(String(error))))
  }
}
