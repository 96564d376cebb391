import type { Outcome, ToolEnvironment, ToolSession } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import type { ToolResult, ToolSpec } from '../../tool/tool.ts'
import { recordsOf } from './arguments/text-records.ts'
import { createKnowledge, type Knowledge } from './arguments/knowledge.ts'
import { filesObserver } from './environment-config.ts'
import { hasValue } from './goals/value.ts'
import type { McpTask } from './mcp-task.ts'
import {
  canonicalResults,
  generatedNames,
  type GeneratedValues,
  noGeneratedValues,
} from './profile/generated.ts'
import { exceptionsOf, withoutFiles } from './profile/own-files.ts'
import type { AdmittedTool } from './safety.ts'
import { compactResult, defaultResultLimit, objectsIn, parseJson, type PlainObject } from './salient.ts'
import { type EpisodeState, newState, type StateCallOptions, type StatePool } from './server/state-pool.ts'

/** A call that shows the state, or a part of it. */
export interface Observer {
  /** A reading tool, or `{files}`. */
  name: string
  arguments: Record<string, unknown>
  /**
   * Makes one call for each value that the property `key` has in what an earlier observer shows, as the given argument:
   * the tasks of each listed project.
   */
  each?: { of: string; key: string; argument: string }
}

/** What trying the tools of a system showed. */
export interface SystemFindings {
  /** The kinds of the tools by name. Tools that are not named keep theirs. */
  kinds: ReadonlyMap<string, AdmittedTool['kind']>
  observers: readonly Observer[]
  generated: GeneratedValues
}

/** Tools over a state that every episode has for itself: an MCP server, or functions in this process. */
export interface ToolSystem {
  readonly name: string
  readonly tools: readonly AdmittedTool[]
  /**
   * The tools that the policy sees and may call: those that were not left out. The others may still prepare and show
   * the state.
   */
  readonly offered: readonly AdmittedTool[]
  /** From now on, offers all tools but these. */
  leaveOut(names: Iterable<string>): void
  /** True if the state can be reset and observed, so that tasks may change it. */
  readonly changeable: boolean
  /** The calls that show the state. */
  readonly observers: readonly Observer[]
  /** Values that the tools make up in each state. */
  readonly generated: GeneratedValues
  /** From now on, goes by what trying the tools showed. */
  conclude(findings: SystemFindings): void
  /** Characters of a result that the policy sees. */
  readonly resultLimit: number
  /** Names of properties with generated values. They are never asked for. */
  readonly ignore: readonly string[]
  /** What the calls have taught about the arguments of the tools. It learns from each `call` and `look`. */
  readonly knowledge: Knowledge
  /** Runs a tool in the state of an episode. The result is formatted for the policy (short and deterministic). */
  call(
    state: EpisodeState,
    name: string,
    args: Record<string, unknown>,
    options?: StateCallOptions,
  ): Promise<ToolResult>
  /** The same with the whole result, for finding values in it. */
  look(
    state: EpisodeState,
    name: string,
    args: Record<string, unknown>,
    options?: StateCallOptions,
  ): Promise<ToolResult>
  /** Restarts servers for later calls, which clears what they keep in memory. */
  restart(): Promise<void>
  /** The state in comparable form, or null if it cannot be observed. */
  observe(state: EpisodeState, signal?: AbortSignal): Promise<string | null>
  /** What each of these calls shows in a state, as the server writes it. */
  sights(state: EpisodeState, observers: readonly Observer[], options?: StateCallOptions): Promise<Sight[]>
  /**
   * Records of the first state: those that the servers can tell without a call, and those that the observers show.
   */
  records(signal?: AbortSignal): Promise<PlainObject[]>
  close(): Promise<void>
}

interface ToolSystemOptions {
  name: string
  tools: readonly AdmittedTool[]
  pool: StatePool
  /** Names of the tools that show the state. */
  observe: readonly string[]
  ignore?: readonly string[]
  /** Characters of a result that the policy sees. Default: 300. */
  resultLimit?: number | undefined
  /** Example arguments by tool. Default: none. */
  examples?: Readonly<Record<string, readonly PlainObject[]>> | undefined
}

export function createToolSystem(options: ToolSystemOptions): ToolSystem {
  const { pool, resultLimit = defaultResultLimit, ignore = [] } = options
  let tools = options.tools
  let offered = options.tools
  const knowledge = createKnowledge({
    tools: options.tools.map(({ spec }) => spec),
    examples: options.examples ?? {},
  })
  let observers: readonly Observer[] = options.observe.map((name) => ({ name, arguments: {} }))
  let generated = noGeneratedValues()
  let concluded = false
  /** What the first state looks like, once it was proved that a reset brings it back. */
  let first: string | undefined

  async function sights(
    state: EpisodeState,
    wanted: readonly Observer[],
    callOptions: StateCallOptions = {},
  ): Promise<Sight[]> {
    const seen = new Map<string, Sight[]>()
    const look = async (name: string, args: Record<string, unknown>): Promise<string> => {
      if (name === filesObserver)
        return withoutFiles(await pool.describe(state, callOptions.signal), exceptionsOf({ arguments: args }))
      const result = await pool.call(state, name, args, callOptions)
      return `${result.isError ? 'error: ' : ''}${result.text}`
    }
    for (const { name, arguments: args, each } of wanted) {
      const earlier = each === undefined ? [] : (seen.get(each.of) ?? []).map(({ text }) => text)
      const calls =
        each === undefined
          ? [args]
          : valuesUnder(earlier, each.key).map((value) => ({ ...args, [each.argument]: value }))
      const found = seen.get(name) ?? []
      for (const call of calls) found.push({ name, arguments: call, text: await look(name, call) })
      seen.set(name, found)
    }
    return [...seen.values()].flat()
  }

  return {
    name: options.name,
    get tools() {
      return tools
    },
    get observers() {
      return observers
    },
    get generated() {
      return generated
    },
    conclude(findings) {
      const left = new Set(tools.filter((tool) => !offered.includes(tool)).map(({ spec }) => spec.name))
      tools = tools.map((tool) => ({ ...tool, kind: findings.kinds.get(tool.spec.name) ?? tool.kind }))
      offered = tools.filter(({ spec }) => !left.has(spec.name))
      observers = findings.observers
      generated = findings.generated
      concluded = true
      first = undefined
    },
    get offered() {
      return offered
    },
    leaveOut(names) {
      const left = new Set(names)
      offered = tools.filter((tool) => !left.has(tool.spec.name))
    },
    get changeable() {
      return observers.length > 0
    },
    resultLimit,
    get ignore() {
      return [...ignore, ...generatedNames(generated)]
    },
    sights,
    knowledge,
    async look(state, name, args, callOptions) {
      const result = await pool.call(state, name, args, callOptions)
      knowledge.learn(name, args, result)
      return result
    },
    restart: () => pool.restart(),
    async call(state, name, args, callOptions) {
      const result = await pool.call(state, name, args, callOptions)
      knowledge.learn(name, args, result)
      return { text: compactResult(result.text, resultLimit), isError: result.isError }
    },
    async observe(state, signal) {
      if (observers.length === 0) return null
      // Only a call that may change the state can have changed it.
      const isFirst = concluded && state.journal.length === 0
      if (isFirst && first !== undefined) return first
      const seen = await sights(state, observers, { signal })
      const shown = canonicalResults(
        seen.map(({ text }) => text),
        generated,
        ignore,
      )
      if (isFirst) first = shown
      return shown
    },
    async records(signal) {
      const state = newState()
      const seen = (await sights(state, observers, { signal })).filter(({ name }) => name !== filesObserver)
      return [
        ...(await pool.records(state, signal)),
        ...seen.flatMap(({ name, arguments: args, text }) => recordsOf(text, args, name)),
      ]
    },
    close: () => pool.close(),
  }
}

/** A call of an observer with what it returned. */
export interface Sight {
  name: string
  arguments: Record<string, unknown>
  text: string
}

/** Most calls of an observer that is called once for each value. */
const mostValues = 20

/** The distinct plain values of a property in some results. */
function valuesUnder(texts: readonly string[], key: string): unknown[] {
  const found = texts
    .flatMap((text) => objectsIn(parseJson(text)))
    .map((record) => record[key])
    .filter((value) => typeof value === 'string' || typeof value === 'number')
  return [...new Set(found)].slice(0, mostValues)
}

/** The specs of the tools that the policy may use. */
function specsOf(tools: readonly AdmittedTool[]): ToolSpec[] {
  return tools.map((tool) => tool.spec)
}

/**
 * Makes the environment of generated tasks. Every episode has its own state. It succeeds if it gives the answer of the
 * reference solution and leaves the state that the reference leaves; the calls on the way do not matter.
 */
export function createSystemEnvironment(system: ToolSystem): ToolEnvironment<McpTask> {
  return {
    name: system.name,
    get tools() {
      return specsOf(system.offered)
    },
    provesTasks: true,
    async open(task, { signal }) {
      signal?.throwIfAborted()
      return openSession(system, task, signal)
    },
    close: () => system.close(),
  }
}

function openSession(system: ToolSystem, task: McpTask, signal?: AbortSignal): ToolSession {
  const state = newState(task.seeds)
  const specs = specsOf(system.offered)
  const names = new Set(specs.map((spec) => spec.name))
  return {
    specs,
    async call(name, args, options) {
      // An unknown name is the policy's mistake and never reaches the server.
      if (!names.has(name)) return { text: `error: no tool ${name}`, isError: true }
      return system.call(state, name, args, { ...options, signal: options?.signal ?? signal })
    },
    async judge(outcome) {
      const score = await judgeState(system, task, state, outcome, signal)
      if (score.value === 1 || system.changeable) return score
      // A live system may have changed since the task was made. The answer can then not be judged.
      const now = await answerNow(system, task, signal)
      if ('answer' in now && isAnswered(task, now.answer)) return score
      const reason =
        'failed' in now
          ? `the reference solution failed ${referenceTries} times when it was repeated: ${now.failed}`
          : 'the system behind the tools changed since the task was made'
      return { value: null, reason }
    },
    ...(system.changeable && { observe: () => system.observe(state, signal) }),
    close: async () => {},
  }
}

async function judgeState(
  system: ToolSystem,
  task: McpTask,
  state: EpisodeState,
  outcome: Outcome,
  signal?: AbortSignal,
): Promise<Scored> {
  const { expected } = task
  const parts: Record<string, number> = {
    answer: Number(isAnswered(task, outcome.answer)),
    // Answering without calling the tool does not count.
    called: Number(outcome.calls > 0),
  }
  if (expected.state !== null) {
    // Only a call that may change the state can have changed it. The reference solution showed that the state must
    // change.
    const untouched = state.journal.length === task.seeds.length
    const reached = untouched
      ? task.context['changes'] !== true
      : (await system.observe(state, signal)) === expected.state
    parts['state'] = Number(reached)
  }
  return { value: Number(Object.values(parts).every((part) => part === 1)), parts }
}

function isAnswered({ expected }: McpTask, answer: string | null): boolean {
  if (expected.answer === null) return answer !== null
  return hasValue(answer, { type: 'text', ...expected, answer: expected.answer })
}

/** A tool that fails sometimes has not changed. Only after this many failures in a row a task cannot be judged. */
const referenceTries = 3

/** Returns the reference solution's current answer in a fresh state, or the error if every try failed. */
async function answerNow(
  system: ToolSystem,
  task: McpTask,
  signal?: AbortSignal,
): Promise<{ answer: string } | { failed: string }> {
  let failed = 'it comes to no end'
  for (let attempt = 0; attempt < referenceTries; attempt++) {
    const state = newState(task.seeds)
    const results: { text: string; isError: boolean }[] = []
    while (results.length <= 8) {
      const move = task.plan(results)
      if ('answer' in move) return move
      const { name, arguments: args } = move.call
      const result = await system.call(state, name, args, { signal })
      if (result.isError) {
        failed = `${name}: ${result.text}`
        break
      }
      results.push(result)
    }
  }
  return { failed }
}
