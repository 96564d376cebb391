import type { ToolEnvironment } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { defineTools } from '../../tool/define-tools.ts'
import type { ToolLike } from '../../tool/define-tools.ts'
import type { GeneratedTasks, TaskGenerationOptions } from '../mcp/task-generation.ts'
import type { McpTask } from '../mcp/mcp-task.ts'
import type { Probe } from '../mcp/profile/tool-probing.ts'
import type { StateServer } from '../mcp/server/state-pool.ts'

type Tools = Record<string, ToolLike>

export interface ToolsEnvironmentOptions {
  /** Name of the environment in episodes and reports. Default: `tools`. */
  name?: string
  /** The tools by name, in the shape of the AI SDK's `tool`, or a function that makes them with a fresh state. */
  tools: Tools | (() => Tools | Promise<Tools>)
  /** Tools that change the state. They need `observe`, and `tools` must be a function. */
  writes?: readonly string[]
  /** Tools without required arguments that show the state. */
  observe?: readonly string[]
  /** Names of properties that are ignored when states are compared, such as ids and times. */
  ignore?: readonly string[]
  /** Characters of a result that the policy sees. Default: 300. */
  resultLimit?: number
}

export interface ToolsEnvironment extends ToolEnvironment<McpTask> {
  /** Tries the tools, then makes tasks and checks each one. `leftOut` lists the tools that no task uses, and why. */
  prepareTasks(options: TaskGenerationOptions): Promise<{ tasks: GeneratedTasks; leftOut: Probe['leftOut'] }>
}

/**
 * Makes an environment of your own functions. Tasks are generated from the tools' schemas and checked by running them,
 * as for an MCP server. If `tools` is a function, every episode has its own state.
 *
 * @throws AgogeError if a tool cannot be used, or if tools that write cannot be reset and observed.
 * @example
 * const environment = await createToolsEnvironment({
 *   tools: {
 *     double: {
 *       description: 'Doubles a number.',
 *       inputSchema: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] },
 *       execute: ({ x }: { x: number }) => 2 * x,
 *     },
 *   },
 * })
 */
export async function createToolsEnvironment(options: ToolsEnvironmentOptions): Promise<ToolsEnvironment> {
  // Loaded on demand: making tasks from tools is a fifth of what `agoge` would load.
  const [{ createStatePool }, { createSystemEnvironment, createToolSystem }] = await Promise.all([
    import('../mcp/server/state-pool.ts'),
    import('../mcp/tool-system.ts'),
  ])
  const { tools: given, writes = [], observe = [] } = options
  const fresh = async () => defineTools(typeof given === 'function' ? await given() : given)
  const { specs } = await fresh()
  const names = specs.map((spec) => spec.name)
  for (const name of [...writes, ...observe]) {
    if (names.includes(name)) continue
    throw new AgogeError(`there is no tool "${name}"`, {
      code: 'unknown-tool',
      given: name,
      expected: `one of: ${names.join(', ')}`,
    })
  }
  if (writes.length > 0 && (typeof given !== 'function' || observe.length === 0)) {
    throw new AgogeError('tools that write need a state that can be reset and observed', {
      code: 'bad-environment',
      given: writes.join(', '),
      expected: '`tools` as a function that makes them anew, and `observe` naming tools that show the state',
    })
  }
  async function open(): Promise<StateServer> {
    let toolbox = await fresh()
    return {
      toolbox: { specs, call: (...call) => toolbox.call(...call) },
      async reset() {
        toolbox = await fresh()
      },
      close: async () => {},
    }
  }
  const system = createToolSystem({
    name: options.name ?? 'tools',
    tools: specs.map((spec) => ({
      spec,
      kind: writes.includes(spec.name) ? 'write' : 'read',
      why: 'own code',
    })),
    pool: createStatePool({ size: 16, open, writes: (name) => writes.includes(name) }),
    observe,
    ignore: options.ignore ?? [],
    resultLimit: options.resultLimit,
  })
  const environment = createSystemEnvironment(system)
  return {
    ...environment,
    // Preparing the tasks decides which tools are offered.
    get tools() {
      return environment.tools
    },
    async prepareTasks(generation) {
      const { probeTools } = await import('../mcp/profile/tool-probing.ts')
      const { generateTasks } = await import('../mcp/task-generation.ts')
      const probe = await probeTools(system, generation)
      return { tasks: await generateTasks(system, probe, generation), leftOut: probe.leftOut }
    },
  }
}
