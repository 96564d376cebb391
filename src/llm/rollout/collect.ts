import { AgogeError } from '../../error.ts'
import { createChatActor } from '../agent/chat-actor.ts'
import type { ChatFormat, ChatModel } from '../agent/chat-format/index.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import { createExpertActor } from '../agent/expert-actor.ts'
import { createLocalActor } from '../agent/local-actor.ts'
import { runEpisodes } from '../agent/turn-loop.ts'
import type { Actor, Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { Episode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import { type Reward, scoreGroups } from '../reward/reward.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

/** A policy over a backend. */
export interface ActorOptions<B extends ModelBackend = ModelBackend> {
  tokenizer: Tokenizer
  /** For a public checkpoint: its template and window, of `readChatModel`. Default: the model is one of the project's own. */
  chat?: ChatModel | undefined
  /** Any other policy over the backend. Default: the local actor, or the chat actor where `chat` is given. */
  actor?:
    | ((backend: B, options: { temperature: number; seed: number; maxTokensPerTurn: number }) => Actor)
    | undefined
}

/** The actor that plays with the weights of a backend; temperature 0 is greedy. */
export function openActor<B extends ModelBackend>(
  backend: B,
  { tokenizer, chat, actor }: ActorOptions<B>,
  settings: { temperature: number; seed: number; maxTokensPerTurn: number },
): Actor {
  if (actor !== undefined) return actor(backend, settings)
  const { temperature, seed, maxTokensPerTurn } = settings
  const common = { backend, sampling: { temperature }, seed, maxTokensPerTurn }
  return chat === undefined
    ? createLocalActor({ ...common, tokenizer })
    : createChatActor({ ...common, ...chat })
}

/** Where and how episodes are played. An aborted `signal` rejects with its reason once the wave is closed. */
interface RolloutSettings<T extends Task = Task> {
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

// Apart from earlier rounds, which development has looked at.
const firstRound = 4_000_000

/** The first `count` held-out tasks of a split (fewer where it has fewer), families in turn: the same for every run and model. */
export function heldOutTasks<T extends Task>(
  source: TaskSource<T>,
  split: Task['split'],
  count: number,
): T[] {
  if (source.heldOut !== undefined) return source.heldOut(split, count)
  const { kinds } = source
  return Array.from({ length: count }, (_, at) =>
    source.task({ split, seed: firstRound * kinds.length + at, kind: kinds[at % kinds.length] }),
  )
}

interface DemonstrationSettings<T extends Task> {
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
      hint: `Correct the plan or the check of the kind "${wrong.kind}"`,
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
