import { resolve } from 'node:path'
import { checkTaskIds, type FileTask, readTask, readTaskFile } from '../environment/mcp/goals/task-file.ts'
import type { AgogeConfig } from './config.ts'
import { type McpReference, openEnvironment, type OpenedEnvironment } from './environment.ts'
import { type McpTasks, readMcpTasks } from './mcp-tasks.ts'
import { openTools } from './tools-environment.ts'

/** How environments are opened. */
export interface OpeningOptions {
  /** Called with what may be called, before the first call. If it rejects, none is made. */
  onPlan?: ((plan: string, needsConsent: boolean) => Promise<void>) | undefined
  signal?: AbortSignal | undefined
}

/** The environment of a config, opened when it is first needed. */
export interface ConfiguredEnvironment {
  /** Shows the plan once. Returns undefined if the config has no environment. */
  open: () => Promise<OpenedEnvironment | undefined>
  close: () => Promise<void>
}

/** @param root folder of the config. */
export function configuredEnvironment(
  { environment }: Pick<AgogeConfig, 'environment'>,
  root: string,
  options: OpeningOptions,
): ConfiguredEnvironment {
  let opened: Promise<OpenedEnvironment> | undefined
  return {
    async open() {
      if (environment === undefined) return undefined
      opened ??= openPlanned(environment, root, options)
      return opened
    },
    async close() {
      await (await opened?.catch(() => undefined))?.close()
    },
  }
}

async function openPlanned(
  reference: NonNullable<AgogeConfig['environment']>,
  root: string,
  { onPlan, signal }: OpeningOptions,
): Promise<OpenedEnvironment> {
  if (reference.kind === 'tools') return openTools(reference)
  const environment = await openEnvironment(reference, root, signal)
  try {
    await onPlan?.(environment.plan, environment.needsConsent)
    return environment
  } catch (error) {
    await environment.close()
    throw error
  }
}

/**
 * The tasks of a config. Those of a server are made by its environment, if it is the same server.
 *
 * @param root folder of the config.
 * @throws AgogeError `bad-tasks`; for a server as `openMcpEnvironment` and `prepareTasks` do.
 */
export async function readTasks(
  { tasks, environment }: Pick<AgogeConfig, 'tasks' | 'environment'>,
  root: string,
  configured: ConfiguredEnvironment,
  options: OpeningOptions,
): Promise<readonly FileTask[]> {
  if (typeof tasks === 'string') return readTaskFile(resolve(root, tasks), { needsExpected: false })
  if ('kind' in tasks) return tasksOfServer(tasks, environment, { root, configured, options })
  const given = typeof tasks === 'function' ? await tasks() : tasks
  const read = given.map((task, at) =>
    readTask(task, `task ${at + 1} of the config`, { needsExpected: false }),
  )
  checkTaskIds(read, 'the config')
  return read
}

async function tasksOfServer(
  tasks: McpTasks,
  environment: AgogeConfig['environment'],
  { root, configured, options }: { root: string; configured: ConfiguredEnvironment; options: OpeningOptions },
): Promise<readonly FileTask[]> {
  if (environment?.kind === 'mcp' && isSameServer(environment, tasks.server))
    return readMcpTasks({ ...tasks, server: environment }, root, async () => (await configured.open()) ?? {})
  const other = configuredEnvironment({ environment: tasks.server }, root, options)
  try {
    return await readMcpTasks(tasks, root, async () => (await other.open()) ?? {})
  } finally {
    await other.close()
  }
}

const isSameServer = (one: McpReference, other: McpReference): boolean =>
  one.name === other.name && one.options.file === other.options.file
