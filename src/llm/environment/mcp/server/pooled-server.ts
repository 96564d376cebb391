import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { defined } from '../../../../defined.ts'
import { AgogeError } from '../../../../error.ts'
import { makeLockedFolder } from '../../../../runs/lock.ts'
import type { UnusableTool } from '../../../tool/mcp-results.ts'
import { redactError } from '../../../tool/redact.ts'
import type { ServerConfig } from '../../../tool/server-config.ts'
import { createServerPool } from '../../../tool/server-pool.ts'
import { InfrastructureError, type Toolbox, type ToolSpec } from '../../../tool/tool.ts'
import { manyWaiters } from '../../../tool/waiting.ts'
import type { McpEnvironmentConfig } from '../environment-config.ts'
import { describeFiles, type FilesSnapshot, readFiles, runResetCommand, writeFiles } from './reset.ts'
import type { StateServer } from './state-pool.ts'

interface LimitOptions {
  /** Tools that may be called. Other names are refused. */
  allowed: Iterable<string>
  /** Total number of calls over all toolboxes behind these limits. */
  maxCalls: number
  /** Calls per second in total. Default: no limit. */
  callsPerSecond?: number | undefined
}

/** Counts, paces and refuses calls. All connections to a server share one instance. */
export interface CallLimit {
  readonly allowed: ReadonlySet<string>
  readonly maxCalls: number
  readonly callsPerSecond: number | undefined
  /** Calls made so far, in total and by tool. */
  used(): { total: number; tools: Record<string, number> }
  /**
   * Resolves when the call may be made.
   *
   * @throws AgogeError for a refused tool or a spent budget.
   */
  admit(tool: string, signal?: AbortSignal): Promise<void>
}

export function createCallLimit(options: LimitOptions): CallLimit {
  const allowed = new Set(options.allowed)
  const tools = new Map<string, number>()
  const gap = options.callsPerSecond === undefined ? 0 : 1000 / options.callsPerSecond
  let total = 0
  let next = 0
  return {
    allowed,
    maxCalls: options.maxCalls,
    callsPerSecond: options.callsPerSecond,
    used: () => ({ total, tools: Object.fromEntries(tools) }),
    async admit(tool, signal) {
      signal?.throwIfAborted()
      if (!allowed.has(tool)) {
        throw new AgogeError(`the tool "${tool}" is not allowed to run`, {
          code: 'tool-not-allowed',
          given: tool,
          expected: `one of: ${[...allowed].join(', ') || '(none)'}`,
          hint: `admit it with --allow ${tool}, or with --sandbox if the state behind the server may be destroyed`,
        })
      }
      if (total >= options.maxCalls) {
        throw new AgogeError(`the budget of ${options.maxCalls} calls is spent`, {
          code: 'call-budget',
          given: tool,
          expected: `at most ${options.maxCalls} calls`,
          hint: 'raise it with --max-calls, or ask for fewer tasks or steps',
        })
      }
      total++
      tools.set(tool, (tools.get(tool) ?? 0) + 1)
      if (gap === 0) return
      const now = performance.now()
      const at = Math.max(now, next)
      next = at + gap
      if (at > now) await pause(at - now, signal)
    },
  }
}

/** Applies the limits to a toolbox. Refused tools are neither listed nor called. */
export function limitToolbox(toolbox: Toolbox, limit: CallLimit): Toolbox {
  return {
    specs: toolbox.specs.filter((spec) => limit.allowed.has(spec.name)),
    async call(name, args, options) {
      options?.onWait?.(true)
      await limit.admit(name, options?.signal)
      options?.onWait?.(false)
      return toolbox.call(name, args, options)
    },
  }
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, milliseconds)
    manyWaiters(signal)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

interface PooledServerOptions {
  server: ServerConfig
  config: McpEnvironmentConfig
  limit: CallLimit
  /** Hides secrets in everything the server sends (tools, results, errors). */
  redact: (text: string) => string
  signal?: AbortSignal | undefined
}

/** True if each server process can have its own state, so that several may run side by side. */
export function canRunSideBySide(server: ServerConfig, config: McpEnvironmentConfig): boolean {
  if (config.reset === 'none') return true
  if ('url' in server) return false
  if (config.reset === 'restart') return true
  if ('roots' in Object(config.reset)) return true
  return JSON.stringify([server.args, server.env, server.cwd, config.env]).includes('{slot}')
}

/** Starts one server with its own folder and the reset that the environment declares. */
export async function openPooledServer(options: PooledServerOptions): Promise<StateServer> {
  const { config, limit, signal } = options
  const folder = makeLockedFolder(tmpdir(), 'agoge-mcp')
  const server = inEnv(options.server, config, folder)
  // The server started before, when its tools were listed. Now several may start at the same time and need longer.
  const connectSeconds = config.connectSeconds ?? 60
  let connection: Toolbox & { close(): Promise<void> }

  async function connect(): Promise<void> {
    if (typeof config.reset === 'object' && 'roots' in config.reset) {
      const pool = createServerPool({ server, size: 1, roots: true, redact: options.redact, connectSeconds })
      const lease = await pool.lease({ root: folder, ...defined({ signal }) })
      connection = { specs: lease.specs, call: (...call) => lease.call(...call), close: () => pool.close() }
    } else {
      const { connectServer } = await import('../../../tool/mcp-client.ts')
      connection = await connectServer(server, {
        redact: options.redact,
        connectSeconds,
        ...defined({ signal }),
      })
    }
  }

  // The server's folder differs between runs, so results must not contain its name.
  const clean = (text: string): string =>
    options.redact(text.replaceAll(`${folder}/`, '/').replaceAll(folder, '/'))
  const withFileErrors = (): Toolbox => {
    const inner = limitToolbox(connection, limit)
    return {
      specs: inner.specs,
      async call(name, args, callOptions) {
        const result = await cleanly(clean, () => inner.call(name, args, callOptions))
        return { text: clean(result.text), isError: result.isError }
      },
    }
  }

  const paths = statePaths(config, folder)
  let fresh: FilesSnapshot = []
  try {
    fresh = paths === undefined ? fresh : readFiles(paths)
    await cleanly(clean, async () => {
      if (typeof config.reset === 'object' && 'command' in config.reset) {
        await runResetCommand(config.reset.command, folder, { signal, redact: options.redact })
      }
      await connect()
    })
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  return {
    toolbox: { specs: withFileErrors().specs, call: (...call) => withFileErrors().call(...call) },
    reset: (resetSignal) =>
      cleanly(clean, async () => {
        if (paths !== undefined) return writeFiles(paths, fresh)
        if (config.reset === 'restart') {
          await connection.close()
          writeFiles([folder], [])
          await connect()
        } else if (typeof config.reset === 'object' && 'command' in config.reset) {
          await runResetCommand(config.reset.command, folder, {
            signal: resetSignal,
            redact: options.redact,
          })
        } else {
          throw new InfrastructureError('the environment declares no reset')
        }
      }),
    ...(paths === undefined
      ? {}
      : {
          snapshot: async () => readFiles(paths),
          describe: async () => clean(describeFiles(readFiles(paths))),
          restore: async (snapshot: unknown) => writeFiles(paths, snapshot as FilesSnapshot),
        }),
    async close() {
      await connection.close()
      // Files outside the server's folder belong to the user and are restored to their original contents.
      if (paths !== undefined) writeFiles(paths, fresh)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Cleans errors like results: they quote the server's last output and are stored with the masked episodes. */
async function cleanly<T>(clean: (text: string) => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof InfrastructureError ? redactError(error, clean) : error
  }
}

/**
 * Lists the tools of a server, and those that cannot be used, without calling any. The server runs only for the
 * listing.
 */
export async function listServerTools({
  server,
  config,
  redact,
  signal,
}: Omit<PooledServerOptions, 'limit'>): Promise<{ specs: ToolSpec[]; unusable: readonly UnusableTool[] }> {
  const folder = makeLockedFolder(tmpdir(), 'agoge-mcp')
  try {
    const roots = typeof config.reset === 'object' && 'roots' in config.reset ? { roots: [folder] } : {}
    const { connectServer } = await import('../../../tool/mcp-client.ts')
    const connection = await connectServer(inEnv(server, config, folder), {
      ...roots,
      redact,
      ...defined({ connectSeconds: config.connectSeconds, signal }),
    })
    await connection.close()
    const { specs, unusable } = connection
    return { specs, unusable }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function statePaths(config: McpEnvironmentConfig, folder: string): string[] | undefined {
  if (typeof config.reset !== 'object') return undefined
  if ('roots' in config.reset) return [folder]
  if (!('files' in config.reset)) return undefined
  return config.reset.files.map((file) => {
    const path = file.replaceAll('{slot}', folder)
    return isAbsolute(path) ? path : join(folder, path)
  })
}

function inEnv(server: ServerConfig, config: McpEnvironmentConfig, folder: string): ServerConfig {
  if ('url' in server) return server
  const fill = (text: string): string => text.replaceAll('{slot}', folder)
  const env = { ...server.env, ...config.env }
  return {
    ...server,
    command: fill(server.command),
    args: (server.args ?? []).map(fill),
    env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)])),
    ...(server.cwd === undefined ? {} : { cwd: fill(ownPath(server.cwd)) }),
  }
}

/** A path completed with the configuration's folder may also mean one in the server's folder. */
function ownPath(path: string): string {
  const at = path.indexOf('{slot}')
  return at < 0 ? path : path.slice(at)
}
