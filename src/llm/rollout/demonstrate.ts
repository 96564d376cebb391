import type { ChatFormat } from '../agent/chat-format/index.ts'
import type { Task, ToolEnvironment } from '../agent/types.ts'
import { createExpertActor } from '../agent/expert-actor.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import { evaluatePolicy } from './collect.ts'

export interface DemonstrationSettings<T extends Task> {
  tasks: readonly T[]
  environment: ToolEnvironment<T>
  tokenizer: Tokenizer
  /** Of a model with a chat template, instead of the format of the project's own. */
  format?: ChatFormat
  limits: EpisodeLimits
  signal?: AbortSignal
  onWave?: (episodes: readonly Episode[]) => void
}

/**
 * Lets the tasks' own planner play them in the real environment and keeps what succeeded, as episodes with the exact
 * tokens of the local policy. Masked ones (the environment broke) are left out, and where `environment.provesTasks` is true also those that failed.
 *
 * @throws AgogeError where the planner fails a task of another environment: then the task or its check is wrong, and training on the rest
 *   would hide it.
 */
export async function demonstrate<T extends Task>(settings: DemonstrationSettings<T>): Promise<Episode[]> {
  return (await playDemonstrations(settings)).filter(isDemonstration)
}

/**
 * Like `demonstrate`, but returns all episodes in the order of `tasks`, those that are no demonstrations too.
 *
 * @throws AgogeError as `demonstrate` does.
 */
export async function playDemonstrations<T extends Task>(
  settings: DemonstrationSettings<T>,
): Promise<Episode[]> {
  const { tasks, tokenizer, format, ...rest } = settings
  const byEpisode = new Map(tasks.map((task, at) => [`demonstration/${at}:${task.id}`, task]))
  const actor = createExpertActor({
    tasks: byEpisode,
    ...(format === undefined ? { tokenizer } : { format }),
  })
  const episodes = await evaluatePolicy({ ...rest, tasks, actor, name: 'demonstration' })
  const wrong = episodes.find((episode) => episode.status !== 'masked' && episode.success !== true)
  if (wrong !== undefined && settings.environment.provesTasks !== true)
    throw new AgogeError(`The reference plan of the task ${wrong.task} does not solve it`, {
      code: 'unsolvable-task',
      given: wrong.nodes.map((node) => `${node.role}: ${node.text}`).join('\n'),
      expected: 'a plan after which the environment judges the task as done',
      hint: `Correct the plan or the check of the family "${wrong.kind}"`,
    })
  return episodes
}

/** Whether an episode of a planner shows how its task is done. */
export function isDemonstration({ status, success }: Episode): boolean {
  return status !== 'masked' && success === true
}

/** How often a tool was called and answered with an error. */
export interface CallCounts {
  calls: number
  failed: number
}

/**
 * Tools that answered calls of demonstrations with an error, by name. Each of these calls had worked when its task was proved, so the tool is
 * at fault. Calls after the first error of an episode do not count: their arguments may come from it.
 */
export function unstableTools(episodes: readonly Episode[]): Record<string, CallCounts> {
  const counts = new Map<string, CallCounts>()
  for (const { nodes } of episodes) {
    const sent = nodes.filter(({ invalid }) => invalid === undefined)
    const names = new Map(sent.flatMap(({ calls = [] }) => calls.map(({ id, name }) => [id, name] as const)))
    for (const { role, callId, isError = false } of nodes) {
      const name = role === 'tool' ? names.get(callId ?? '') : undefined
      if (name === undefined) continue
      const { calls, failed } = counts.get(name) ?? { calls: 0, failed: 0 }
      counts.set(name, { calls: calls + 1, failed: failed + Number(isError) })
      if (isError) break
    }
  }
  return Object.fromEntries([...counts].filter(([, { failed }]) => failed > 0))
}
