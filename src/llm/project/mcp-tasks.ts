import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../runs/checksums.ts'
import { writeWhole } from '../../runs/files.ts'
import { ownFolder } from '../../runs/run-folder.ts'
import { type FileTask, readTaskFile } from '../environment/mcp/goals/task-file.ts'
import { splitCounts } from '../environment/mcp/task-generation.ts'
import { type McpOptions, type McpReference, mcp, type OpenedEnvironment } from './environment.ts'

/** How many tasks are made of a server, and how the server may be used. */
export interface McpTasksOptions extends McpOptions {
  /** Tasks in all: a quarter of them for test, a tenth for validation, a tenth in unseen wording, the others for training. Default: 40. */
  count?: number
  /** The same seed on the same server gives the same tasks. Default: 0. */
  seed?: number
  /** Makes the tasks anew although they are kept. Default: false. */
  fresh?: boolean
}

/** Tasks made of an MCP server; see `mcpTasks`. */
export interface McpTasks {
  readonly kind: 'mcp-tasks'
  readonly server: McpReference
  readonly count: number
  readonly seed: number
  readonly fresh: boolean
}

/**
 * Tasks for the field `tasks` of a config, made of the tools of an MCP server as `agoge tasks` makes them: each is proved in a fresh state.
 * They are kept as a task file in `.agoge/tasks` beside the config, and read from there the next time.
 *
 * @example
 * defineConfig({ ..., tasks: mcpTasks('memory', { sandbox: true, count: 60 }), environment: mcp('memory', { sandbox: true }) })
 */
export function mcpTasks(
  name: string,
  { count = 40, seed = 0, fresh = false, ...options }: McpTasksOptions = {},
): McpTasks {
  return { kind: 'mcp-tasks', server: mcp(name, options), count, seed, fresh }
}

/** Where the tasks are kept. The name says what decides them, as far as the config knows it. */
export function keptTasksFile({ server, count, seed }: McpTasks, root: string): string {
  const { name, options } = server
  const hash = sha256(JSON.stringify([name, options.file, options.sandbox, options.allow])).slice(0, 8)
  return join(
    root,
    '.agoge',
    'tasks',
    `${name.replaceAll(/[^\w.-]/g, '_')}-${count}-seed-${seed}-${hash}.jsonl`,
  )
}

/**
 * The kept tasks, or new ones, which are then kept.
 *
 * @param root folder of the config.
 * @param open opens the environment of this server. Called only if tasks must be made.
 */
export async function readMcpTasks(
  given: McpTasks,
  root: string,
  open: () => Promise<Pick<OpenedEnvironment, 'makeTasks'>>,
): Promise<readonly FileTask[]> {
  const file = keptTasksFile(given, root)
  if (!given.fresh && existsSync(file)) return readTaskFile(file)
  const { makeTasks } = await open()
  const tasks = (await makeTasks?.({ seed: given.seed, counts: splitCounts(given.count) })) ?? []
  ownFolder(root, 'tasks')
  writeWhole(file, tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
  return tasks
}
