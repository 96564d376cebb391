import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import type { Task, ToolEnvironment, ToolSession } from '../agent/types.ts'
import { readScore, type Scored, type Unscored } from '../episode/score.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { openMcpEnvironment } from '../environment/mcp/open-mcp-environment.ts'
import { InfrastructureError, type ToolSpec } from '../tool/tool.ts'

/** A server of `.mcp.json` as the environment of an agent; see `mcp`. */
export interface McpReference {
  readonly kind: 'mcp'
  readonly name: string
  readonly options: McpOptions
}

/** How the server may be used. */
export interface McpOptions {
  /** The file with `mcpServers`, relative to the config. Default: `.mcp.json`. */
  file?: string
  /** True promises that all that the server reaches on this machine may be destroyed; `remote`: on other hosts too. Default: false. */
  sandbox?: boolean | 'remote'
  /** Tools that may run although they are not marked as reading. */
  allow?: readonly string[]
}

/**
 * Gives the agent the tools of an MCP server, in every trial on a state of its own. What is right is judged by the answer and the state
 * that a task expects, or that its reference leaves: with `stateEquals()` and `answerMatches()`.
 *
 * @example
 * defineConfig({ ..., environment: mcp('memory', { sandbox: true }), score: { state: stateEquals() } })
 */
export function mcp(name: string, options: McpOptions = {}): McpReference {
  return { kind: 'mcp', name, options }
}

/** A tool of an environment, as `generateText` of the AI SDK takes it. */
export interface EnvironmentTool {
  description?: string
  inputSchema: StandardSchemaV1<Record<string, unknown>> & StandardJSONSchemaV1<Record<string, unknown>>
  execute: (input: Record<string, unknown>, options?: { abortSignal?: AbortSignal }) => Promise<string>
}

/** The state of one trial: its tools, and what its judge finds. */
export interface TrialSession {
  tools: Record<string, EnvironmentTool>
  /** The judgement of the environment, called once after the agent has answered. */
  judge: (answer: string | null) => Promise<Scored | Unscored>
  close: () => Promise<void>
}

/** The environment of an evaluation. */
export interface OpenedEnvironment {
  /** What may be called, and how the state is reset, for a person to read. */
  plan: string
  /** True if the plan has calls that may change something. */
  needsConsent: boolean
  /**
   * Proves the tasks in fresh states.
   *
   * @returns the tasks that cannot be used, with the reason.
   * @throws AgogeError `bad-tasks` if none can.
   */
  prepare: (tasks: readonly FileTask[]) => Promise<readonly { id: string; reason: string }[]>
  open: (
    task: FileTask,
    options: { signal: AbortSignal; onFault: (reason: string) => void },
  ) => Promise<TrialSession>
  close: () => Promise<void>
}

/**
 * Connects to the server of a config. Calls none of its tools: show `plan` first.
 *
 * @param root folder of the config.
 */
export async function openEnvironment(
  { name, options: { file, sandbox = false, allow = [] } }: McpReference,
  root: string,
  signal: AbortSignal | undefined,
): Promise<OpenedEnvironment> {
  const environment = await openMcpEnvironment(name, {
    file: resolve(root, file ?? '.mcp.json'),
    sandbox,
    allow: [...allow],
    ...(signal && { signal }),
  })
  const proved = new Map<string, Task>()
  return {
    plan: environment.plan,
    needsConsent: environment.needsConsent,
    async prepare(tasks) {
      const { tasks: bank } = await environment.prepareTasks({
        seed: 0,
        counts: { train: 0, validation: 0, test: tasks.length },
        // Of a split of its own, tasks would be counted apart.
        own: tasks.map((task) => ({ ...task, split: 'test' as const })),
        ...(signal && { signal }),
      })
      for (const split of ['train', 'validation', 'test', 'unseen-paraphrase'] as const)
        for (const task of bank.all(split)) proved.set(task.id, task)
      return bank.refused
    },
    async open(task, options) {
      const known = proved.get(task.id)
      if (known === undefined)
        throw new AgogeError(`the task ${task.id} was not proved`, { code: 'bad-tasks', given: task.id })
      return openSession(environment, known, options)
    },
    close: () => environment.close(),
  }
}

async function openSession(
  environment: ToolEnvironment,
  task: Task,
  { signal, onFault }: { signal: AbortSignal; onFault: (reason: string) => void },
): Promise<TrialSession> {
  const session = await environment.open(task, { signal })
  const counts = { calls: 0, invalidCalls: 0 }
  const tools = session.specs.map((spec): [string, EnvironmentTool] => [
    spec.name,
    {
      ...(spec.description !== undefined && { description: spec.description }),
      inputSchema: schemaOf(spec),
      execute: (input, { abortSignal = signal } = {}) =>
        callTool(session, spec.name, input, { signal: abortSignal, counts, onFault }),
    },
  ])
  return {
    tools: Object.fromEntries(tools),
    judge: async (answer) => readScore(await session.judge({ answer, ...counts }), `task ${task.id}`),
    close: () => session.close(),
  }
}

async function callTool(
  session: ToolSession,
  name: string,
  input: Record<string, unknown>,
  {
    signal,
    counts,
    onFault,
  }: { signal: AbortSignal; counts: { calls: number }; onFault: (reason: string) => void },
): Promise<string> {
  counts.calls += 1
  try {
    const { text, isError } = await session.call(name, input, { signal })
    if (!isError) return text
    throw new Error(text)
  } catch (error) {
    if (error instanceof InfrastructureError) onFault(`the tool "${name}" failed: ${error.message}`)
    throw error
  }
}

/** The JSON Schema of a tool as a Standard Schema, which both versions of the AI SDK read. */
function schemaOf({ inputSchema }: ToolSpec): EnvironmentTool['inputSchema'] {
  // The SDK adds to the schema that it is given.
  const json = (): Record<string, unknown> => structuredClone(inputSchema)
  return {
    '~standard': {
      version: 1,
      vendor: 'agoge',
      validate(value) {
        const problem = validateArguments(inputSchema, value)
        return problem === undefined
          ? { value: value as Record<string, unknown> }
          : { issues: [{ message: problem }] }
      },
      jsonSchema: { input: json, output: json },
    },
  }
}
