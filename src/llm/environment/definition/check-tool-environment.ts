import { readScore } from '../../episode/score.ts'
import type { EpisodeLimits } from '../../agent/episode-state.ts'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import type { Actor, Task, TaskSource, ToolEnvironment, ToolSession } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import type { Episode } from '../../episode/types.ts'
import type { DefinedToolEnvironment } from './define-tool-environment.ts'
import { plainText } from './task-source.ts'

/** What `checkToolEnvironment` accepts: a definition, or an environment with its source of tasks. */
export type CheckedEnvironment =
  | DefinedToolEnvironment
  | { environment: ToolEnvironment; tasks: TaskSource; limits?: Partial<EpisodeLimits> }

/** Settings of `checkToolEnvironment`. */
export interface CheckToolEnvironmentOptions {
  /** Tasks of each kind and split. Default: 8. */
  tasks?: number
  signal?: AbortSignal
}

/** The result of the check. */
export interface EnvironmentCheck {
  name: string
  /** By kind: the number of tasks played, and the mean number of calls in an expert's episode. */
  kinds: Record<string, { tasks: number; calls: number }>
}

const splits = ['train', 'validation', 'test'] as const
const usualLimits: EpisodeLimits = { turns: 6, deadlineSeconds: 120, toolDeadlineSeconds: 20 }

/**
 * Checks that an environment is ready for training:
 *
 * - no split of a kind is empty, and train, validation and test share no task, - the same seed gives the same task and
 * the same episode, - the expert plan of every task succeeds within the limits, - an agent that does nothing fails, -
 * an episode does not see the changes of another one.
 *
 * @returns the tasks played and the expert's calls, by kind.
 * @throws AgogeError `environment-check` or `empty-split`, with the kind, the split and the task.
 * @example
 * const { kinds } = await checkToolEnvironment(environment)
 */
export async function checkToolEnvironment(
  given: CheckedEnvironment,
  { tasks: count = 8, signal }: CheckToolEnvironmentOptions = {},
): Promise<EnvironmentCheck> {
  const { kinds } = given.tasks
  const drawTasks = (): Task[] =>
    kinds.flatMap((kind) =>
      splits.flatMap((split) =>
        Array.from({ length: count }, (_, seed) => given.tasks.task({ split, seed, kind })),
      ),
    )
  const tasks = drawTasks()
  checkSameTasks(tasks, drawTasks())
  checkDisjoint(tasks)

  const environment = 'create' in given ? await given.create() : given.environment
  const limits = { ...usualLimits, ...given.limits }
  const options = signal === undefined ? {} : { signal }
  const play = (name: string, actorOf: (byEpisode: Map<string, Task>) => Actor): Promise<Episode[]> => {
    const specs = tasks.map((task) => ({ id: `${name}/${task.id}`, group: task.id, task }))
    return runEpisodes(
      specs,
      actorOf(new Map(specs.map(({ id, task }) => [id, task]))),
      environment,
      limits,
      options,
    )
  }
  const expert = (byEpisode: Map<string, Task>): Actor => createExpertActor({ tasks: byEpisode })
  try {
    const solved = await play('expert', expert)
    tasks.forEach((task, at) => checkSolved(task, solved[at], limits))
    const idle = await play('idle', idleActor)
    tasks.forEach((task, at) => checkIdle(task, idle[at]))
    if (environment.deterministic !== false) {
      const again = await play('again', expert)
      tasks.forEach((task, at) => checkSameEpisode(task, solved[at], again[at]))
    }
    for (const kind of kinds)
      await checkIsolated(
        tasks.find((task) => task.kind === kind),
        environment,
      )
    return {
      name: environment.name,
      kinds: Object.fromEntries(kinds.map((kind) => [kind, measured(solved, kind)])),
    }
  } finally {
    if ('create' in given) await environment.close()
  }
}

function measured(episodes: readonly Episode[], kind: string): { tasks: number; calls: number } {
  const own = episodes.filter((episode) => episode.kind === kind)
  const calls = own.reduce((sum, { usage }) => sum + usage.calls, 0)
  return { tasks: own.length, calls: calls / Math.max(1, own.length) }
}

/** The parts of a task that the policy and the judge see. */
const contentOf = (task: Task): string =>
  plainText([task.kind, task.prompt, 'start' in task ? task.start : task.context])

function checkSameTasks(tasks: readonly Task[], again: readonly Task[]): void {
  tasks.forEach((task, at) => {
    if (contentOf(task) === contentOf(again[at])) return
    throw problem(task, 'the same split and seed gave two different tasks', {
      given: again[at].prompt,
      expected: task.prompt,
      hint: 'Draw everything from `random` and `words`, never from Math.random or the clock',
    })
  })
}

function checkDisjoint(tasks: readonly Task[]): void {
  const seen = new Map<string, Task>()
  for (const task of tasks) {
    const content = contentOf(task)
    const before = seen.get(content)
    if (before !== undefined && before.split !== task.split)
      throw problem(task, `the same task is in the split ${before.split}`, {
        given: task.prompt,
        expected: 'splits that share no task',
        hint: 'Leave `splits` at "hash", or draw from `words`, of which no word is in two splits',
      })
    seen.set(content, task)
  }
}

function checkSolved(task: Task, episode: Episode, limits: EpisodeLimits): void {
  if (episode.status === 'masked')
    throw problem(task, 'the expert plan could not be played', {
      given: episode.error ?? episode.ending,
      expected: 'tools and a judge that throw nothing',
    })
  if (episode.ending === 'turn-limit')
    throw problem(task, 'the expert plan takes more turns than an episode has', {
      given: `${episode.usage.calls} calls`,
      expected: `at most ${limits.turns - 1} calls and an answer`,
      hint: 'Raise `limits: { turns }`',
    })
  if (episode.success !== true)
    throw problem(task, 'the expert plan does not succeed', {
      given: transcriptOf(episode),
      expected: 'a plan after which the judge says that the task is done',
      hint: 'Correct the plan, the goal or the judge',
    })
}

function checkIdle(task: Task, episode: Episode): void {
  if (episode.success === false) return
  throw problem(task, 'an agent that only answers "done" succeeds', {
    given: task.prompt,
    expected: 'a task that needs a call or an answer of its own',
    hint: 'Let the draft ask for something that the state does not have yet',
  })
}

function checkSameEpisode(task: Task, first: Episode, second: Episode): void {
  if (transcriptOf(first) === transcriptOf(second)) return
  throw problem(task, 'the same calls were answered differently in a second episode', {
    given: transcriptOf(second),
    expected: transcriptOf(first),
    hint: 'Keep all that changes in the state, or set `deterministic: false`',
  })
}

/** Plays a task in one session while another session is open. The other session must keep its initial state. */
async function checkIsolated(task: Task | undefined, environment: ToolEnvironment): Promise<void> {
  if (task === undefined) return
  const sessions: ToolSession[] = []
  try {
    for (let i = 0; i < 2; i++) sessions.push(await environment.open(task, {}))
    const [played, other] = sessions
    const results: { text: string; isError: boolean }[] = []
    let answer: string | undefined
    while (answer === undefined) {
      const move = task.plan(results)
      if ('answer' in move) answer = move.answer
      else results.push(await played.call(move.call.name, move.call.arguments))
    }
    const score = await other.judge({ answer: 'done', calls: 0, invalidCalls: 0 })
    const { value } = readScore(score, task.id)
    if (value === null || value >= 1)
      throw problem(task, 'what one episode did was seen by another', {
        given: 'one state for two sessions',
        expected: 'a private state for each episode',
        hint: 'Let the tools change only the state that they are given',
      })
  } finally {
    for (const session of sessions) await session.close()
  }
}

function idleActor(): Actor {
  const tokens = new Int32Array(0)
  const act = {
    text: 'done',
    calls: [],
    finish: 'stop' as const,
    tokens,
    logprobs: new Float32Array(0),
    mask: new Uint8Array(0),
    weightVersion: 0,
    promptTokens: 0,
  }
  return {
    name: 'idle',
    sampling: { temperature: 0 },
    encode: () => tokens,
    act: (requests) => Promise.resolve(requests.map(() => act)),
  }
}

const transcriptOf = ({ nodes, success }: Episode): string =>
  [...nodes.map(({ role, text }) => `${role}: ${text}`), `success: ${success}`].join('\n')

function problem(
  task: Task,
  message: string,
  details: { given: unknown; expected: string; hint?: string },
): AgogeError {
  const where = `kind "${task.kind}", split ${task.split}, seed ${task.seed}`
  return new AgogeError(`${message} (${where})`, { code: 'environment-check', ...details })
}
