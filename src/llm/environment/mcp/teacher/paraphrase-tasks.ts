import { defined } from '../../../../defined.ts'
import { AgogeError } from '../../../../error.ts'
import { toFunctionTools } from '../../../agent/chat-completions.ts'
import { createOpenAIActor, type OpenAIActorOptions } from '../../../agent/openai-actor.ts'
import type { Act, Actor, ToolEnvironment } from '../../../agent/types.ts'
import { inParallel } from '../../../in-parallel.ts'
import type { McpTask } from '../mcp-task.ts'
import { createTokenBudget, estimateTokens, limitReached } from './budget.ts'
import { identifiersOf, readIndependently, readingTurns, requestKey, whyUnfit } from './check.ts'
import { draftMessage, type Paraphrase, readParaphrases, styles } from './drafts.ts'

/** What a teacher costs if nothing limits it. */
export interface TeacherCost {
  /** Requests for drafts, one for each task. */
  drafts: number
  /** Most requests in which drafts are read. */
  readings: number
  /** Estimated tokens if readings make the calls of the references and replies are short. */
  usualTokens: number
  /** Estimated tokens if every reply is as long and every reading takes as many turns as it may. */
  mostTokens: number
}

/** How a paraphrase is marked in the `context` of its task. */
export interface ParaphraseMark {
  /** The id of the task whose request it is. */
  of: string
  style: string
  /** The name of the model. */
  teacher: string
}

/** A reason, and how often it was one. */
export interface CountedReason {
  reason: string
  count: number
}

export interface ParaphraseOptions {
  /** The endpoint of the teacher. */
  endpoint: Omit<OpenAIActorOptions, 'maxTokensPerTurn' | 'beforeAttempt'>
  /** Limit of the tokens of all requests. Default: 200,000. */
  tokens?: number
  /** Number of tasks that get drafts, the first ones. Default: all. */
  count?: number
  /** Receives the cost before the first request. */
  onCost?: (cost: TeacherCost) => void
  /** Receives each paraphrase as soon as it is confirmed. */
  onTask?: (task: McpTask) => void
  signal?: AbortSignal
}

export interface ParaphraseReport {
  /** The paraphrases that were confirmed, in the order of the tasks that they belong to. */
  tasks: McpTask[]
  /** Requests that the teacher wrote. */
  drafts: number
  /** Why drafts were dropped; the most frequent reason first. */
  dropped: CountedReason[]
  /** Why tasks got no drafts. */
  without: CountedReason[]
  /** What was sent, and the tokens that it took. */
  requests: number
  tokens: number
  /** True if the limit of tokens ended it. */
  isLimited: boolean
}

export const defaultTeacherTokens = 200_000

/** Most tokens of one reply, also for models that reason first. */
const replyTokens = 2000
/** Estimated tokens of a short reply, and of the result of a tool. */
const shortReplyTokens = 150
const resultTokens = 100
/** Tasks whose drafts are written and read at the same time. The limit of tokens then cuts into a few tasks only. */
const tasksAtOnce = 2
/** Failed requests in a row after which the teacher is given up. */
const mostFailures = 3

/**
 * Lets a teacher write the requests of proved tasks again, in several styles. A draft is confirmed in two ways. Its calls
 * were executed: it has the reference of its task, which solves it. And an independent reading agrees: a conversation that
 * sees only the tools and the new request reaches what the reference reaches. Confirmed drafts are tasks of the same split.
 *
 * @throws AgogeError `model-endpoint-unreachable` if the endpoint never answers; `model-endpoint-refused` if it refuses.
 * @example
 * const endpoint = { baseUrl: 'http://127.0.0.1:8080/v1', model: 'qwen3-8b' }
 * const { tasks: paraphrases } = await paraphraseTasks(environment, tasks.all('train'), { endpoint, tokens: 50_000 })
 */
export async function paraphraseTasks(
  environment: ToolEnvironment<McpTask>,
  tasks: readonly McpTask[],
  options: ParaphraseOptions,
): Promise<ParaphraseReport> {
  const { endpoint, tokens: limit = defaultTeacherTokens, count = tasks.length, onTask, signal } = options
  const budget = createTokenBudget(limit, signal)
  const actor = createOpenAIActor({
    ...endpoint,
    maxTokensPerTurn: replyTokens,
    beforeAttempt: (sent) => budget.beforeAttempt(sent),
  })
  const { tools } = environment
  const chosen = tasks.slice(0, count)
  const usable = chosen.filter(({ reference }) => reference !== undefined)
  options.onCost?.(estimateCost(environment, usable))

  const identifiers = identifiersOf(tools)
  const known = new Set(tasks.map(({ prompt }) => requestKey(prompt)))
  const nameTask = createNames(tasks)
  const dropped = createTally()
  const without = createTally()
  for (const { reference } of chosen) if (reference === undefined) without.add('it has no reference')
  let [drafts, failures] = [0, 0]
  let hasAnswered = false

  async function draft(task: McpTask): Promise<Paraphrase[]> {
    const reply = await ask(actor, task.id, draftMessage(task, tools), signal)
    if (reply instanceof Error) {
      if (reply.message !== limitReached) {
        if (!hasAnswered) throw unreachable(endpoint, reply)
        failures++
      }
      without.add(reply.message)
      return []
    }
    hasAnswered = true
    failures = 0
    const written = readParaphrases(reply.text, reply.finish === 'length')
    if (written === undefined) without.add('the reply of the teacher is no list of requests')
    return written ?? []
  }

  async function paraphrase(task: McpTask): Promise<McpTask[]> {
    signal?.throwIfAborted()
    if (budget.isReached() || failures >= mostFailures) {
      without.add(budget.isReached() ? limitReached : 'the teacher was given up after failures in a row')
      return []
    }
    const written = await draft(task)
    drafts += written.length
    const candidates = written.flatMap(({ style, request }, at) => {
      const most = Object.keys(styles).length
      const reason = at >= most ? 'more than were asked for' : whyUnfit(request, task, { known, identifiers })
      if (reason !== undefined) {
        dropped.add(reason)
        return []
      }
      known.add(requestKey(request))
      const mark: ParaphraseMark = { of: task.id, style, teacher: endpoint.model }
      const context = { ...task.context, paraphrase: mark }
      return [{ ...task, ...nameTask(task), prompt: request, context }]
    })
    const reasons = await readIndependently(environment, actor, candidates, signal)
    return candidates.filter((candidate, at) => {
      const reason = reasons[at]
      if (reason === undefined) onTask?.(candidate)
      else dropped.add(reason)
      return reason === undefined
    })
  }

  const confirmed = await inParallel(usable, tasksAtOnce, paraphrase)
  return {
    tasks: confirmed.flat(),
    drafts,
    dropped: dropped.list(),
    without: without.list(),
    requests: budget.requests(),
    tokens: budget.spent(),
    isLimited: budget.isReached(),
  }
}

/** The mark of a task whose request a teacher wrote; undefined for any other. */
export function paraphraseMark({ context }: Pick<McpTask, 'context'>): ParaphraseMark | undefined {
  return context['paraphrase'] as ParaphraseMark | undefined
}

async function ask(
  actor: Actor,
  episode: string,
  text: string,
  signal: AbortSignal | undefined,
): Promise<Act | Error> {
  const node = { id: 0, parent: null, agent: 'teacher', role: 'user' as const, text }
  const tokens = actor.encode({ role: 'user', text })
  const request = { episode, turn: 0, nodes: [{ ...node, tokens }], tools: [] }
  const [act] = await actor.act([request], defined({ signal }))
  signal?.throwIfAborted()
  return act
}

/** Ids and seeds that no other task has. */
function createNames(tasks: readonly McpTask[]): (task: McpTask) => Pick<McpTask, 'id' | 'seed'> {
  const ids = new Set(tasks.map(({ id }) => id))
  let seed = Math.max(0, ...tasks.map((task) => task.seed))
  return ({ id }) => {
    let number = 1
    while (ids.has(`${id}/paraphrase-${number}`)) number++
    const name = `${id}/paraphrase-${number}`
    ids.add(name)
    seed++
    return { id: name, seed }
  }
}

function estimateCost({ tools }: ToolEnvironment<McpTask>, tasks: readonly McpTask[]): TeacherCost {
  const shown = estimateTokens(JSON.stringify(toFunctionTools(tools)))
  const each = Object.keys(styles).length
  /** Each turn sends the tools and all turns before it. */
  const readingTokens = (turns: number, reply: number): number =>
    turns * (shown + reply) + ((turns * (turns - 1)) / 2) * (reply + resultTokens)
  const sum = (tokensOf: (task: McpTask) => number): number =>
    tasks.reduce((total, task) => total + tokensOf(task), 0)
  const drafting = sum((task) => estimateTokens(draftMessage(task, tools)))
  const usualTurns = ({ reference = [] }: McpTask): number => reference.length + 1
  return {
    drafts: tasks.length,
    readings: sum((task) => each * readingTurns(task)),
    usualTokens:
      drafting + sum((task) => each * (shortReplyTokens + readingTokens(usualTurns(task), shortReplyTokens))),
    mostTokens: drafting + sum((task) => replyTokens + each * readingTokens(readingTurns(task), replyTokens)),
  }
}

function createTally(): { add(reason: string): void; list(): CountedReason[] } {
  const counts = new Map<string, number>()
  return {
    add: (reason) => void counts.set(reason, (counts.get(reason) ?? 0) + 1),
    list: () =>
      [...counts].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count),
  }
}

function unreachable({ model, baseUrl }: ParaphraseOptions['endpoint'], cause: Error): AgogeError {
  return new AgogeError(`The teacher "${model}" gives no answer.`, {
    code: 'model-endpoint-unreachable',
    given: cause.message,
    expected: 'an OpenAI-compatible endpoint that answers',
    hint: `Check the address (${new URL(baseUrl).origin}) and whether the endpoint runs.`,
    cause,
  })
}
