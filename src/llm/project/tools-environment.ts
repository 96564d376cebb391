import { isDeepStrictEqual } from 'node:util'
import { AgogeError } from '../../error.ts'
import { parseOwnJson } from '../../untrusted/own-json.ts'
import { type FileCall, type FileTask, fromFileTask } from '../environment/mcp/goals/task-file.ts'
import { hasValue } from '../environment/mcp/goals/value.ts'
import type { Scored } from '../episode/score.ts'
import { callTool, lastOf, readTools, type ToolLike } from '../tool/define-tools.ts'
import { InfrastructureError } from '../tool/tool.ts'
import type { EnvironmentTool, OpenedEnvironment, TrialSession } from './environment.ts'

/** Tools by name, in the shape of the AI SDK's `tool`. */
export type ToolSet = Readonly<Record<string, ToolLike>>

/** What `tools` takes. */
export interface ToolsDefinition<State, Tools extends ToolSet> {
  /** Makes the state of one trial, which must not be that of another. Default: no state. */
  state?: (task: FileTask) => State | Promise<State>
  /** Makes the tools of one trial, which read and change its state. */
  tools: (state: State) => Tools | Promise<Tools>
  /** What counts of the state at the end, as plain data: leave out ids, times and logs. Default: all of it. */
  observe?: (state: State) => unknown
  /** Called when the trial is over. */
  close?: (state: State) => unknown
}

/** Functions of a program as the environment of an agent; see `tools`. */
export interface ToolsReference<Tools extends ToolSet = ToolSet> {
  readonly kind: 'tools'
  readonly begin: (task: FileTask) => Promise<StartedTools<Tools>>
}

/** The tools of one trial, and its state. */
export interface StartedTools<Tools extends ToolSet> {
  tools: Tools
  observe: () => unknown
  close: () => unknown
}

/**
 * Gives the agent tools of this program, in every trial on a state of its own. `stateEquals()` compares the state at the end with
 * `expected.state` of the task, or with the state that its reference leaves.
 *
 * @example
 * defineConfig({
 *   ...,
 *   environment: tools({
 *     state: () => ({ items: ['milk'] }),
 *     tools: (state) => ({ add: tool({ inputSchema: z.object({ item: z.string() }), execute: ({ item }) => state.items.push(item) }) }),
 *   }),
 *   tasks: [{ id: '1', prompt: 'Add eggs.', expected: { state: { items: ['milk', 'eggs'] } } }],
 *   score: stateEquals(),
 * })
 */
export function tools<const Tools extends ToolSet, State = undefined>({
  state: makeState,
  tools: makeTools,
  observe = (state) => state,
  close = () => {},
}: ToolsDefinition<State, Tools>): ToolsReference<Tools> {
  const given = new WeakSet()
  return {
    kind: 'tools',
    async begin(task) {
      const state = (await makeState?.(task)) as State
      if (typeof state === 'object' && state !== null) {
        if (given.has(state)) throw sharedState(task)
        given.add(state)
      }
      return { tools: await makeTools(state), observe: () => observe(state), close: () => close(state) }
    },
  }
}

function sharedState({ id }: FileTask): AgogeError {
  return new AgogeError(`the state of the task ${id} is that of another trial`, {
    code: 'bad-config',
    given: 'state() of the environment returned the same object twice',
    expected: 'a new state for each trial, such as () => ({ items: [] })',
  })
}

/** Opens such an environment. It needs no consent: the tools are the user's own. */
export function openTools({ begin }: ToolsReference): OpenedEnvironment {
  /** The states that references leave, by task. */
  const left = new Map<string, unknown>()
  return {
    plan: 'The agent gets tools of this program, in every trial on a state of its own.',
    needsConsent: false,
    async prepare(tasks) {
      const refused: { id: string; reason: string }[] = []
      for (const task of tasks) {
        if (task.reference === undefined) continue
        const proved = await prove(begin, task, task.reference)
        if (typeof proved === 'string') refused.push({ id: task.id, reason: proved })
        else left.set(task.id, proved.state)
      }
      if (tasks.length > 0 && refused.length === tasks.length)
        throw new AgogeError('no task can be used', {
          code: 'bad-tasks',
          given: refused.map(({ id, reason }) => `${id}: ${reason}`).join('\n'),
          expected: 'tasks whose reference solves them',
        })
      return refused
    },
    open: (task, { onFault }) => openSession(begin, task, { expected: expectedState(task, left), onFault }),
    close: () => Promise.resolve(),
  }
}

/** The state that counts as success; undefined if the task expects none. */
function expectedState({ id, expected }: FileTask, left: ReadonlyMap<string, unknown>): Expected | undefined {
  if (expected?.state !== undefined) return { state: plain(expected.state, id) }
  return left.has(id) ? { state: left.get(id) } : undefined
}

interface Expected {
  state: unknown
}

/** The state that the reference leaves, or why the task cannot be used. */
async function prove(
  begin: ToolsReference['begin'],
  task: FileTask,
  reference: readonly FileCall[],
): Promise<Expected | string> {
  const started = await begin(task)
  try {
    await callAll(started.tools, task.seeds ?? [], 'setting up the initial state')
    await callAll(started.tools, reference, 'its reference')
    const state = plain(await started.observe(), task.id)
    const wanted = expectedState(task, new Map())
    return wanted === undefined || isDeepStrictEqual(wanted.state, state)
      ? { state }
      : 'its reference leaves another state than it expects'
  } catch (error) {
    if (error instanceof InfrastructureError) return error.message
    throw error
  } finally {
    await started.close()
  }
}

/** @throws InfrastructureError if a call fails. */
async function callAll(set: ToolSet, calls: readonly FileCall[], named: string): Promise<void> {
  if (calls.length === 0) return
  const read = await readTools(set)
  for (const { name, arguments: args } of calls) {
    const { isError, text } = await callTool(read, name, args)
    if (isError) throw new InfrastructureError(`${named} failed: ${name}: ${text}`)
  }
}

async function openSession(
  begin: ToolsReference['begin'],
  task: FileTask,
  { expected, onFault }: { expected: Expected | undefined; onFault: (reason: string) => void },
): Promise<TrialSession> {
  const started = await begin(task)
  const close = async (): Promise<void> => void (await started.close())
  try {
    await callAll(started.tools, task.seeds ?? [], 'setting up the initial state')
  } catch (error) {
    await close()
    throw error
  }
  const watched = Object.entries(started.tools).map(([name, one]) => [name, watch(name, one, onFault)])
  return {
    // The types of a config know its own tools by name.
    tools: Object.fromEntries(watched) as Record<string, EnvironmentTool>,
    judge: async (answer) =>
      judge(task, answer, expected, expected && plain(await started.observe(), task.id)),
    close,
  }
}

/** The same tool. A fault of what lies behind it is reported. */
function watch(name: string, one: ToolLike, onFault: (reason: string) => void): ToolLike {
  return {
    ...one,
    async execute(input, options) {
      try {
        return await lastOf(await one.execute?.(input, options))
      } catch (error) {
        if (error instanceof InfrastructureError) onFault(`the tool "${name}" failed: ${error.message}`)
        throw error
      }
    },
  }
}

function judge(task: FileTask, answer: string | null, wanted: Expected | undefined, state: unknown): Scored {
  const { answer: right, type = 'text', others, ordered = false } = fromFileTask(task, 0).expected
  const parts = {
    ...(right !== null && { answer: Number(hasValue(answer, { type, answer: right, others, ordered })) }),
    ...(wanted !== undefined && { state: Number(isDeepStrictEqual(state, wanted.state)) }),
  }
  return { value: Number(Object.values(parts).every((part) => part === 1)), parts }
}

/** A state as plain data, so that it can be compared with one of a file. @throws AgogeError `bad-config` if it has none. */
function plain(state: unknown, id: string): unknown {
  const json = JSON.stringify(state ?? null, (_, value: unknown) => {
    if (!(value instanceof Map || value instanceof Set)) return value
    throw new AgogeError(`the state of the task ${id} cannot be compared`, {
      code: 'bad-config',
      given: value instanceof Map ? 'a Map' : 'a Set',
      expected: 'plain data: observe: (state) => ({ items: [...state.items] })',
    })
  })
  return parseOwnJson(json)
}
