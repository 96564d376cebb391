import { defined } from '../../defined.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { Task, ToolEnvironment } from '../agent/types.ts'
import { score } from '../reward/reward.ts'
import type { Reward } from '../reward/reward.ts'
import { differingPaths } from './outcome-check.ts'
import type { Reference } from './outcome-check.ts'
import { playScripts } from './scripts.ts'

/** Plays the expert of each task twice. Tasks that it does not solve both times are left out. */
export async function referencesOf(
  environment: ToolEnvironment,
  tasks: readonly Task[],
  limits: EpisodeLimits,
  { reward, signal }: { reward?: Reward; signal?: AbortSignal },
): Promise<Map<Task, Reference>> {
  const plays = tasks.map((task) => ({ task, script: task.plan }))
  const once = { limits: { ...limits, turns: Math.max(limits.turns, 40) }, ...defined({ signal }) }
  const first = await playScripts(environment, plays, { ...once, eachState: true })
  const second = await playScripts(environment, plays, once)
  const found = new Map<Task, Reference>()
  for (const [at, task] of tasks.entries()) {
    const [one, other] = [first[at], second[at]]
    if (one.episode.success !== true || other.episode.success !== true) continue
    const unstable = one.shown ? differingPaths(one.end, other.end) : new Set<string>()
    const before = [one.start, ...one.states]
    found.set(task, {
      task,
      calls: one.calls,
      changes: one.calls.map((_, place) =>
        one.shown
          ? [...differingPaths(before[place], before[place + 1])].some((path) => !unstable.has(path))
          : undefined,
      ),
      shown: one.shown,
      start: one.start,
      end: one.end,
      unstable,
      answer: one.answer ?? 'done',
      reward: reward === undefined ? 1 : ((await score(reward, one.episode)).value ?? Infinity),
    })
  }
  return found
}
