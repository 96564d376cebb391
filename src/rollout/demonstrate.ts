import type { ChatFormat } from '../agent/chat-format/index.ts'
import type { Task, ToolWorld } from '../agent/types.ts'
import { createPlannerActor } from '../agent/planner-actor.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import { AgogeError } from '../error.ts'
import type { Episode } from '../episode/types.ts'
import type { Tokenizer } from '../language/tokenizer.ts'
import { evaluatePolicy } from './collect.ts'

/**
 * Lets the tasks' own planner play them in the real world and keeps what succeeded, as episodes with the exact
 * tokens of the local policy. Masked ones (the world broke) are left out.
 *
 * @throws AgogeError where the planner fails a task: then the task or its check is wrong, and training on the rest
 *   would hide it.
 */
export async function demonstrate<T extends Task>(settings: {
  tasks: readonly T[]
  world: ToolWorld<T>
  tokenizer: Tokenizer
  /** Of a model with a chat template, instead of the format of the project's own. */
  format?: ChatFormat
  limits: EpisodeLimits
  signal?: AbortSignal
  onWave?: (episodes: readonly Episode[]) => void
}): Promise<Episode[]> {
  const { tasks, tokenizer, format, ...rest } = settings
  const byEpisode = new Map(tasks.map((task, at) => [`demonstration/${at}:${task.id}`, task]))
  const actor = createPlannerActor({
    tasks: byEpisode,
    ...(format === undefined ? { tokenizer } : { format }),
  })
  const episodes = await evaluatePolicy({ ...rest, tasks, actor, name: 'demonstration' })
  const wrong = episodes.find((episode) => episode.status !== 'masked' && episode.success !== true)
  if (wrong !== undefined)
    throw new AgogeError(`The reference plan of the task ${wrong.task} does not solve it`, {
      code: 'unsolvable-task',
      given: wrong.nodes.map((node) => `${node.role}: ${node.text}`).join('\n'),
      expected: 'a plan after which the world judges the task as done',
      hint: `Correct the plan or the check of the family "${wrong.family}"`,
    })
  return episodes.filter((episode) => episode.status !== 'masked')
}
