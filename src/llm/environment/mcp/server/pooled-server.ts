import { isAbsolute, join } from 'node:path'
import { defined } from '../../../../defined.ts'
import { makeLockedFolder } from '../../../../runs/lock.ts'
import { fastTemporaryFolder, removeFolder } from '../../../../runs/temporary-folder.ts'
import { parseOwnJson } from '../../../../untrusted/own-json.ts'
import type { UnusableTool } from '../../../tool/mcp-results.ts'
import { redactData } from '../../../../untrusted/untrusted.ts'
import { redactError } from '../../../tool/redact.ts'
import type { ServerConfig } from '../../../tool/server-config.ts'
import { createServerPool } from '../../../tool/server-pool.ts'
import { InfrastructureError, type Toolbox, type ToolSpec } from '../../../tool/tool.ts'
import type { McpEnvironmentConfig } from '../environment-config.ts'
import { type CallLimit, limitToolbox } from './call-limit.ts'
import { differing } from './database-state.ts'
import { describeFiles, type FilesSnapshot, readFiles, runResetCommand, writeFiles } from './reset.ts'
import type { Service, StartService } from './service-process.ts'
import { filesAtWork, fillSlot, slotNames, type SlotPlan } from './slot.ts'
import {
  createFileTracker,
  databasesIn,
  describeChanges,
  type FileTracker,
  type SlotFiles,
} from './slot-files.ts'
import { databaseRecords } from './sqlite-reader.ts'
import type { StateServer } from './state-pool.ts'

/**
 * How the servers of a pool are reset. `restart` always gives a fresh process. `restore` keeps the process and restores
 * what it keeps in files and services; it must be proved first, because a process may keep state in memory too.
 */
export interface ResetMode {
  way: 'restart' | 'restore'
}

export interface PooledServerOptions {
  server: ServerConfig
  config: McpEnvironmentConfig
  /** Asked for at each call: the server that lists the tools is opened before it is known which of them may be called. */
  limit: () => CallLimit
  /** Hides secrets in everything the server sends (tools, results, errors). */
  redact: (text: string) => string
  /** For the reset `slot`: what goes into each slot. */
  plan?: SlotPlan | undefined
  mode?: ResetMode
  /** Starts the service behind the server for one slot. */
  startService?: StartService | undefined
  /** Seconds for the first start. Default: as for all others. */
  connectSeconds?: number
  signal?: AbortSignal | undefined
}

/** Seconds for a start. Several servers may start at the same time and then need longer. */
const laterSeconds = 60

/** True if each server process can have its own state, so that several may run side by side. */
export function canRunSideBySide(server: ServerConfig, config: McpEnvironmentConfig): boolean {
  if (config.reset === 'none') return true
  if ('url' in server) return false
  if (config.reset === 'restart' || config.reset === 'slot') return true
  if ('roots' in Object(config.reset)) return true
  return JSON.stringify([server.args, server.env, server.cwd, config.env]).includes('{slot}')
}

/** What can be done with the state behind a connection. */
type ResetWays = Pick<StateServer, 'reset' | 'snapshot' | 'restore' | 'describe' | 'records'>

export interface ListedTools {
  specs: readonly ToolSpec[]
  /** Those that cannot be used. */
  unusable: readonly UnusableTool[]
}

/** A server of a pool, with all tools that it lists. */
export interface PooledServer extends StateServer {
  listed: ListedTools
}

/** Starts one server with its own folder and the reset that the environment declares. */
export async function openPooledServer(options: PooledServerOptions): Promise<PooledServer> {
  const { config, limit, signal, plan, redact } = options
  const folder = makeLockedFolder(fastTemporaryFolder(config.slotMegabytes), 'agoge-mcp')
  let connectSeconds = options.connectSeconds ?? config.connectSeconds ?? laterSeconds
  const names = plan === undefined ? plainNames(folder) : slotNames(plan, folder)
  const clean = (text: string): string => redact(names.show(text))
  let service: Service | undefined
  let server: ServerConfig
  let connection: Toolbox & { unusable?: readonly UnusableTool[]; close(): Promise<void> }

  async function connect(): Promise<void> {
    if (typeof config.reset === 'object' && 'roots' in config.reset) {
      const pool = createServerPool({ server, size: 1, roots: true, redact, connectSeconds })
      const lease = await pool.lease({ root: folder, ...defined({ signal }) })
      connection = { specs: lease.specs, call: (...call) => lease.call(...call), close: () => pool.close() }
    } else {
      const { connectServer } = await import('../../../tool/mcp-client.ts')
      connection = await connectServer(server, { redact, connectSeconds, ...defined({ signal }) })
    }
  }
  async function restart(between: () => void | Promise<void>): Promise<void> {
    await connection.close()
    await between()
    await connect()
  }

  const paths = statePaths(config, folder)
  let outside: FilesSnapshot = []
  let ways: ResetWays
  try {
    if (paths !== undefined) outside = readFiles(paths)
    if (plan !== undefined) fillSlot(plan, folder)
    await cleanly(clean, async () => {
      service = await options.startService?.(folder, signal)
      server = inSlot(options.server, config, folder, service)
      if (typeof config.reset === 'object' && 'command' in config.reset)
        await runResetCommand(config.reset.command, folder, { signal, redact })
      const most = { bytes: (config.slotMegabytes ?? 64) * 1_000_000, files: 5000 }
      const files = plan === undefined ? undefined : createFileTracker(folder, most)
      const before = files?.read()
      await connect()
      connectSeconds = config.connectSeconds ?? laterSeconds
      ways =
        files === undefined || before === undefined
          ? declaredWays(config, folder, { paths, outside, restart, service, redact })
          : await slotWays(files, before, { mode: options.mode ?? { way: 'restart' }, restart, service })
    })
  } catch (error) {
    await service?.close()
    await removeFolder(folder)
    throw error
  }
  const limited = (): Toolbox => limitToolbox(connection, limit())
  return {
    listed: { specs: connection!.specs, unusable: connection!.unusable ?? [] },
    toolbox: {
      get specs() {
        return limited().specs
      },
      async call(name, args, callOptions) {
        const result = await cleanly(clean, () => limited().call(name, names.hide(args), callOptions))
        return { text: clean(result.text), isError: result.isError }
      },
    },
    reset: (resetSignal) => cleanly(clean, () => ways.reset(resetSignal)),
    get snapshot() {
      return ways.snapshot
    },
    get restore() {
      return ways.restore
    },
    get describe() {
      const { describe } = ways
      return describe && (async () => clean(await describe()))
    },
    async records() {
      const found = [...((await service?.records?.()) ?? []), ...((await ways.records?.()) ?? [])]
      return [...redactData(found, clean), ...(plan === undefined ? [] : filesAtWork(plan))]
    },
    async close() {
      await connection.close()
      await service?.close()
      // Files outside the server's folder belong to the user and are restored to their original contents.
      if (paths !== undefined) writeFiles(paths, outside)
      await removeFolder(folder)
    },
  }
}

/** The server's folder differs between runs, so results must not contain its name. */
function plainNames(folder: string) {
  return {
    show: (text: string) => text.replaceAll(`${folder}/`, '/').replaceAll(folder, '/'),
    hide: (args: Record<string, unknown>) => args,
  }
}

/** The ways of a server in a slot: its files are read, restored and described. */
async function slotWays(
  files: FileTracker,
  before: SlotFiles,
  {
    mode,
    restart,
    service,
  }: {
    mode: ResetMode
    restart: (between: () => Promise<void>) => Promise<void>
    service: Service | undefined
  },
): Promise<ResetWays> {
  // What the server makes when it starts belongs to the fresh state of a process that is kept.
  let fresh = files.read()
  const kept = (await service?.describe?.()) ?? {}
  return {
    async reset() {
      if (mode.way === 'restore') {
        files.write(fresh)
        await service?.reset()
        return
      }
      await restart(async () => {
        files.write(before)
        await service?.reset()
      })
      fresh = files.read()
    },
    // What is in a service that cannot give it as a value is recreated by repeating the calls.
    get snapshot() {
      return mode.way === 'restore' && (service === undefined || service.snapshot !== undefined)
        ? async (): Promise<SlotSnapshot> => ({ files: files.read(), kept: await service?.snapshot?.() })
        : undefined
    },
    get restore() {
      return mode.way === 'restore' && (service === undefined || service.restore !== undefined)
        ? async (snapshot: unknown) => {
            const { files: wanted, kept } = snapshot as SlotSnapshot
            files.write(wanted)
            await service?.restore?.(kept)
          }
        : undefined
    },
    async describe() {
      const found = files.read()
      // Reading and hashing large files are two turns.
      await new Promise(setImmediate)
      const changed = await describeChanges(fresh, found)
      if (service?.describe === undefined) return changed
      const now = await service.describe()
      return JSON.stringify({ ...(parseOwnJson(changed) as object), ...differing(kept, now) })
    },
    async records() {
      const records = await Promise.all(databasesIn(fresh).map(databaseRecords))
      return records.flat()
    },
  }
}

interface SlotSnapshot {
  files: SlotFiles
  /** What the service keeps. */
  kept: unknown
}

/** The ways that the entry of the server declares. */
function declaredWays(
  { reset }: McpEnvironmentConfig,
  folder: string,
  given: {
    paths: string[] | undefined
    outside: FilesSnapshot
    restart: (between: () => void | Promise<void>) => Promise<void>
    service: Service | undefined
    redact: (text: string) => string
  },
): ResetWays {
  const { paths, outside, restart, service, redact } = given
  if (paths !== undefined) {
    return {
      async reset() {
        writeFiles(paths, outside)
        await service?.reset()
      },
      ...(service === undefined && {
        snapshot: async () => readFiles(paths),
        restore: async (snapshot: unknown) => writeFiles(paths, snapshot as FilesSnapshot),
      }),
      describe: async () => describeFiles(readFiles(paths)),
    }
  }
  return {
    async reset(signal) {
      if (reset === 'restart') {
        await restart(async () => {
          writeFiles([folder], [])
          await service?.reset()
        })
      } else if (typeof reset === 'object' && 'command' in reset) {
        await runResetCommand(reset.command, folder, { signal, redact })
      } else throw new InfrastructureError('the environment declares no reset')
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
  plan,
  startService,
  signal,
}: Omit<PooledServerOptions, 'limit' | 'mode'>): Promise<ListedTools> {
  const folder = makeLockedFolder(fastTemporaryFolder(config.slotMegabytes), 'agoge-mcp')
  let service: Service | undefined
  try {
    if (plan !== undefined) fillSlot(plan, folder)
    service = await startService?.(folder, signal)
    const roots = typeof config.reset === 'object' && 'roots' in config.reset ? { roots: [folder] } : {}
    const { connectServer } = await import('../../../tool/mcp-client.ts')
    const connection = await connectServer(inSlot(server, config, folder, service), {
      ...roots,
      redact,
      ...defined({ connectSeconds: config.connectSeconds, signal }),
    })
    await connection.close()
    const { specs, unusable } = connection
    return { specs, unusable }
  } finally {
    await service?.close()
    await removeFolder(folder)
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

/**
 * The configuration of a server with the folder of its slot and the address of its service filled in. The variables of the
 * service replace the server's own, which may name a real database, but for those in which the service is filled in.
 */
export function inSlot(
  server: ServerConfig,
  config: McpEnvironmentConfig,
  folder: string,
  service: Service | undefined,
): ServerConfig {
  if ('url' in server) return server
  const places = Object.entries({ slot: folder, ...service?.places })
  const fill = (text: string): string =>
    places.reduce((filled, [name, value]) => filled.replaceAll(`{${name}}`, () => value), text)
  const names = (value: string): boolean =>
    Object.keys(service?.places ?? {}).some((place) => value.includes(`{${place}}`))
  const own = Object.entries(server.env ?? {}).filter(
    ([key, value]) => service?.env[key] === undefined || names(value),
  )
  const env = { ...service?.env, ...Object.fromEntries(own), ...config.env }
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
