import type { Actor, Task, ToolEnvironment } from '../agent/types.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import { runEpisodes } from '../agent/turn-loop.ts'
import { scoreGroups } from '../reward/reward.ts'
import type { Reward } from '../reward/reward.ts'
import type { Episode } from '../episode/types.ts'

/** Where and how episodes are played. An aborted `signal` rejects with its reason once the wave is closed. */
export interface RolloutSettings<T extends Task = Task> {
  actor: Actor
  environment: ToolEnvironment<T>
  limits: EpisodeLimits
  signal?: AbortSignal
}

/**
 * Plays every task `groupSize` times, all of them in one lockstep wave. Episode ids are
 * `NAME/INDEX:TASK/MEMBER`: they key the random streams, so `name` must differ between steps and stay the same on a repeat.
 *
 * @returns one array of episodes for each task, in the order of `tasks`.
 */
export async function rolloutGroups<T extends Task>(
  settings: RolloutSettings<T> & {
    name: string
    tasks: readonly T[]
    groupSize: number
    /** Scores the episodes, which keep it in their `rewards`; see `scoreGroups`. Default: they are not scored. */
    reward?: Reward
  },
): Promise<Episode[][]> {
  const { name, tasks, groupSize, actor, environment, limits } = settings
  const specs = tasks.flatMap((task, at) =>
    Array.from({ length: groupSize }, (_, member) => ({
      id: `${name}/${at}:${task.id}/${member}`,
      group: `${name}/${at}:${task.id}`,
      task,
    })),
  )
  const episodes = await runEpisodes(specs, actor, environment, limits, signalOf(settings))
  settings.signal?.throwIfAborted()
  const groups = tasks.map((_, at) => episodes.slice(at * groupSize, (at + 1) * groupSize))
  if (settings.reward !== undefined) await scoreGroups(settings.reward, groups, signalOf(settings))
  return groups
}

/**
 * Plays every task once, in waves; episode ids are `NAME/INDEX:TASK`. Whether it is greedy is the actor's matter
 * (temperature 0).
 *
 * @param settings.wave episodes in lockstep at a time, default 128.
 * @param settings.onWave is told after each wave what has been played so far.
 */
export async function evaluatePolicy<T extends Task>(
  settings: RolloutSettings<T> & {
    name: string
    tasks: readonly T[]
    wave?: number
    onWave?: (episodes: readonly Episode[]) => void
  },
): Promise<Episode[]> {
  const { name, tasks, actor, environment, limits, wave = 128, onWave } = settings
  const episodes: Episode[] = []
  for (let start = 0; start < tasks.length; start += wave) {
    const specs = tasks.slice(start, start + wave).map((task, at) => {
      const id = `${name}/${start + at}:${task.id}`
      return { id, group: id, task }
    })
    for (const episode of await runEpisodes(specs, actor, environment, limits, signalOf(settings)))
      episodes.push(episode)
    settings.signal?.throwIfAborted()
    onWave?.(episodes)
  }
  return episodes
}

function signalOf(settings: { signal?: AbortSignal }): { signal?: AbortSignal } {
  return settings.signal === undefined ? {} : { signal: settings.signal }
}
