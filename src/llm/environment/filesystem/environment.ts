import { accessSync, constants, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../../../defined.ts'
import type { ToolSession, ToolEnvironment } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { createServerPool } from '../../tool/server-pool.ts'
import { makeLockedFolder } from '../../../runs/lock.ts'
import { InfrastructureError, type ToolSpec } from '../../tool/tool.ts'
import { resolveServer } from '../../tool/server-config.ts'
import type { ServerLease } from '../../tool/server-pool.ts'
import type { Score } from '../../episode/score.ts'
import { type FilesystemTask, judgeOutcome, plantTree, readTree } from './task.ts'
import { presentResult, toSandbox } from './sandbox.ts'

/** The server package and the version that the environment is tested with. */
export const filesystemServer = {
  package: '@modelcontextprotocol/server-filesystem',
  version: '2026.8.31',
} as const

/**
 * Tools of the server that are not offered: their results depend on the clock, disk or machine, they handle media, or
 * another tool does the same.
 */
const withheld = new Set([
  'get_file_info',
  'list_allowed_directories',
  'list_directory_with_sizes',
  'read_file',
  'read_media_file',
])

export interface FilesystemEnvironmentOptions {
  /** Server processes that share the work. Default: 2. One answers about 2,500 calls per second. */
  servers?: number
  /**
   * Where the sandboxes are made, in a folder of this environment. Default: in memory (`/dev/shm`) if the system has
   * it, else the temporary folder. A sandbox takes 1 ms in memory and up to 20 ms on a disk that syncs its metadata.
   * Folders left by killed processes are removed first.
   */
  sandboxRoot?: string
  /** Reports that npm has to fetch the server. */
  onNotice?: (text: string) => void
  signal?: AbortSignal
}

/** The environment of `filesystemTasks`, with the process ids of its servers for tests and `doctor`. */
export interface FilesystemEnvironment extends ToolEnvironment<FilesystemTask> {
  readonly serverPids: readonly number[]
}

/**
 * Opens the official filesystem MCP server over stdio, with a sandbox folder for every episode.
 *
 * Isolation: the servers may access one folder, the parent of all sandboxes. The paths of a call are mapped into the
 * sandbox of its episode before the server sees them. `..` stops there, and links out of it are refused. So sessions
 * can share a server at the same time. The server itself refuses paths outside the parent.
 *
 * @throws AgogeError or InfrastructureError if the server does not start.
 * @example
 * const environment = await createFilesystemEnvironment()
 * const { kinds } = await checkToolEnvironment({ environment, tasks: filesystemTasks })
 * await environment.close()
 */
export async function createFilesystemEnvironment(
  options: FilesystemEnvironmentOptions = {},
): Promise<FilesystemEnvironment> {
  const resolved = resolveServer(filesystemServer)
  if (resolved.source === 'npx') {
    options.onNotice?.(
      `${filesystemServer.package} is not installed; npm fetches version ${resolved.version} (once)`,
    )
  }
  const parent = options.sandboxRoot ?? (writable('/dev/shm') ? '/dev/shm' : tmpdir())
  const home = makeHome(parent)
  const remove = (): void => rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  process.once('exit', remove)

  const size = Math.max(1, Math.floor(options.servers ?? 2))
  const pool = createServerPool({
    server: { ...resolved.config, args: [...(resolved.config.args ?? []), home] },
    size,
    ...defined({ signal: options.signal }),
  })
  // Each lease is shared: several sessions have calls in flight at the same time.
  const leases: (Promise<ServerLease> | undefined)[] = Array.from({ length: size })
  const pids = new Map<number, number>()
  let opened = 0
  let closed = false

  async function server(index: number): Promise<ServerLease> {
    const held = leases[index]
    if (held !== undefined) {
      const lease = await held
      if (lease.connection.healthy()) return lease
      if (leases[index] === held) {
        leases[index] = undefined
        await lease.release()
      }
    }
    leases[index] ??= pool.lease()
    const starting = leases[index]
    try {
      const lease = await starting
      if (lease.connection.pid !== undefined) pids.set(index, lease.connection.pid)
      return lease
    } catch (error) {
      if (leases[index] === starting) leases[index] = undefined
      throw error
    }
  }

  async function close(): Promise<void> {
    if (closed) return
    closed = true
    process.off('exit', remove)
    await pool.close()
    remove()
  }

  let tools: readonly ToolSpec[]
  try {
    const all = await Promise.all(leases.map((_, index) => server(index)))
    tools = all[0].specs.filter((spec) => !withheld.has(spec.name))
  } catch (error) {
    await close()
    throw error
  }

  return {
    name: 'filesystem',
    tools,
    get serverPids() {
      return [...pids.values()]
    },
    async open(task, { signal }) {
      signal?.throwIfAborted()
      if (closed) throw new InfrastructureError('the filesystem environment is closed')
      const number = opened++
      const root = join(home, `e${number}`)
      try {
        mkdirSync(root)
        plantTree(root, task.start)
      } catch (error) {
        throw new InfrastructureError('the sandbox could not be made', { cause: error })
      }
      return openSession(task, root, tools, () => server(number % size))
    },
    close,
  }
}

function makeHome(parent: string): string {
  try {
    mkdirSync(parent, { recursive: true })
    return makeLockedFolder(parent, 'agoge-filesystem')
  } catch (error) {
    throw new AgogeError(`The sandboxes cannot be made in ${parent}.`, {
      code: 'bad-folder',
      given: parent,
      expected: 'a folder in which this user may write',
      hint: 'choose another `sandboxRoot`',
      cause: error,
    })
  }
}

function writable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function openSession(
  task: FilesystemTask,
  root: string,
  tools: readonly ToolSpec[],
  server: () => Promise<ServerLease>,
): ToolSession {
  const names = new Set(tools.map(({ name }) => name))
  return {
    specs: [...tools],
    async call(name, args, callOptions) {
      if (!names.has(name)) return { text: `error: there is no tool ${name}`, isError: true }
      const mapped = toSandbox(root, args)
      if (typeof mapped === 'string') return { text: `error: ${mapped}`, isError: true }
      const lease = await server()
      return presentResult(name, await lease.call(name, mapped, callOptions), root)
    },
    judge(outcome) {
      try {
        return Promise.resolve<Score>(judgeOutcome(task, readTree(root), outcome))
      } catch (error) {
        const reason = `could not look at the sandbox: ${String(error)}`
        return Promise.resolve<Score>({ value: null, reason })
      }
    },
    observe: async () => readTree(root),
    close() {
      rmSync(root, { recursive: true, force: true, maxRetries: 3 })
      return Promise.resolve()
    },
  }
}
