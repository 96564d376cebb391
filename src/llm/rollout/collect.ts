import { AgogeError } from '../../error.ts'
import { createChatActor } from '../agent/chat-actor.ts'
import type { ChatFormat } from '../agent/chat-format/types.ts'
import type { ChatModel } from '../agent/chat-format/open-format.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import { createExpertActor } from '../agent/expert-actor.ts'
import { createLocalActor } from '../agent/local-actor.ts'
import { runEpisodes } from '../agent/turn-loop.ts'
import type { Actor, Task, TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { Episode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import { type Reward, scoreGroups } from '../reward/reward.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

/** Settings of a policy over a backend. */
export interface ActorOptions<B extends ModelBackend = ModelBackend> {
  tokenizer: Tokenizer
  /** For a public checkpoint: its template and window, from `readChatModel`. Default: one of Agoge's own models. */
  chat?: ChatModel | undefined
  /** Any other policy over the backend. Default: the local actor, or the chat actor if `chat` is given. */
  actor?:
    | ((backend: B, options: { temperature: number; seed: number; maxTokensPerTurn: number }) => Actor)
    | undefined
}

/** The actor that samples with the weights of a backend. Temperature 0 is greedy. */
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

/** Where and how to play episodes. An aborted `signal` rejects with its reason after the running wave has been closed. */
interface RolloutSettings<T extends Task = Task> {
  actor: Actor
  environment: ToolEnvironment<T>
  limits: EpisodeLimits
  signal?: AbortSignal
}

/**
 * Plays every task `groupSize` times, all in one lockstep wave. Episode ids are `NAME/INDEX:TASK/MEMBER` and key the random
 * streams. `name` must differ between steps and stay the same when a step is repeated.
 *
 * @returns one array of episodes per task, in the order of `tasks`.
 */
export async function rolloutGroups<T extends Task>(
  settings: RolloutSettings<T> & {
    name: string
    tasks: readonly T[]
    groupSize: number
    /** Scores the episodes and stores the scores in their `rewards`; see `scoreGroups`. Default: no scores. */
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
 * Plays every task once, in waves. Episode ids are `NAME/INDEX:TASK`. For greedy play, pass an actor with temperature 0.
 *
 * @param settings.wave number of concurrent episodes. Default: 128.
 * @param settings.onWave receives all episodes played so far, after each wave.
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

// Disjoint from earlier rounds, which development has looked at.
const firstRound = 4_000_000

/**
 * The first `count` held-out tasks of a split, or all if it has fewer. Alternates between kinds of task. The same for every run
 * and model.
 */
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
  /** For a model with a chat template. Default: the format of Agoge's own models. */
  format?: ChatFormat
  limits: EpisodeLimits
  signal?: AbortSignal
  onWave?: (episodes: readonly Episode[]) => void
}

/**
 * Lets the expert of the tasks play them in the real environment. Keeps successful episodes, with the exact tokens of the local
 * policy. Leaves out masked episodes, those that the limits cut off, and all that failed if `environment.provesTasks` is true.
 *
 * @throws AgogeError if the judge of any other environment does not accept what the expert did: then the task or its check is wrong, and
 *   training on the rest would hide it.
 */
export async function demonstrate<T extends Task>(settings: DemonstrationSettings<T>): Promise<Episode[]> {
  return (await playDemonstrations(settings)).filter(isDemonstration)
}

/**
 * Like `demonstrate`, but returns all episodes in the order of `tasks`, including those that are no demonstrations.
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
  const wrong = episodes.find(({ status, success }) => status === 'ok' && success !== true)
  if (wrong !== undefined && settings.environment.provesTasks !== true)
    throw new AgogeError(`The reference plan of the task ${wrong.task} does not solve it`, {
      code: 'unsolvable-task',
      given: wrong.nodes.map((node) => `${node.role}: ${node.text}`).join('\n'),
      expected: 'a plan after which the environment judges the task as done',
      hint: `Correct the plan or the check of the kind "${wrong.kind}"`,
    })
  return episodes
}

/** Whether an expert's episode shows how to do its task. */
export function isDemonstration({ status, success }: Episode): boolean {
  return status !== 'masked' && success === true
}

/** How often a tool was called, and how often it answered with an error. */
export interface CallCounts {
  calls: number
  failed: number
}

/**
 * Counts, by tool, the calls of demonstrations that a tool answered with an error. Each of these calls worked when its task was
 * verified, so the tool is at fault. Calls after the first error of an episode do not count, since their arguments may depend on
 * it.
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
