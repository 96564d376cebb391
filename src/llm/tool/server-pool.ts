import { realpath } from 'node:fs/promises'
import { setImmediate as nextTick } from 'node:timers/promises'
import { defined } from '../../defined.ts'
import { InfrastructureError, type Toolbox } from './tool.ts'
import type { McpConnection } from './mcp-client.ts'
import type { ServerConfig } from './server-config.ts'
import { manyWaiters } from './waiting.ts'

export interface ServerPoolOptions {
  /**
   * The server, or a function that returns the configuration of server `index` of the pool (with a folder of its own,
   * for example).
   */
  server: ServerConfig | ((index: number) => ServerConfig | Promise<ServerConfig>)
  /** Maximum number of servers. Each starts when it is first needed. */
  size: number
  /** True if the server takes its folders as roots. A lease can then name the `root` that the server sees. */
  roots?: boolean
  signal?: AbortSignal
  /**
   * Seconds that one call may take before the server counts as hung. Default: 20. Calls queued for the same server wait
   * at most this long too, so keep it well below the caller's deadline.
   */
  callSeconds?: number
  /** Seconds that each server may take to start. Default: 60, because several may start at the same time. */
  connectSeconds?: number
  /** Hides secrets in everything the servers send, as in `connectServer`. */
  redact?: (text: string) => string
}

export interface LeaseOptions {
  /** The one folder that the server sees during the lease (pools with `roots`). */
  root?: string
  /** Requires a process that no other lease has used. */
  fresh?: boolean
  signal?: AbortSignal
}

/** Exclusive use of a server until `release`. */
export interface ServerLease extends Toolbox {
  readonly index: number
  readonly connection: McpConnection
  release(): Promise<void>
}

export interface ServerPool {
  /**
   * Waits for a free server, first come, first served. Restarts a member that crashed or hung.
   *
   * @throws InfrastructureError if no server starts.
   */
  lease(options?: LeaseOptions): Promise<ServerLease>
  /** Stops all servers and rejects waiting leases. */
  close(): Promise<void>
}

interface Member {
  index: number
  connection?: McpConnection
  root?: string
  used: boolean
}

/**
 * Makes a small pool of identical MCP servers. Members start when first needed and are leased first come, first served.
 */
export function createServerPool(options: ServerPoolOptions): ServerPool {
  const size = Math.max(1, Math.floor(options.size))
  const free: Member[] = Array.from({ length: size }, (_, index) => ({ index, used: false }))
  const waiting: { give: (member: Member) => void; refuse: (error: Error) => void }[] = []
  const members = [...free]
  let closed = false

  function take(root: string | undefined, signal: AbortSignal | undefined): Promise<Member> {
    if (free.length > 0) {
      // Prefer a member that already sees this root, then one that is running.
      let index = root === undefined ? -1 : free.findIndex((member) => member.root === root)
      if (index < 0) index = free.findIndex((member) => member.connection?.healthy() === true)
      return Promise.resolve(free.splice(Math.max(index, 0), 1)[0])
    }
    return new Promise((resolve, reject) => {
      const entry = {
        give(member: Member) {
          signal?.removeEventListener('abort', abort)
          resolve(member)
        },
        refuse(error: Error) {
          signal?.removeEventListener('abort', abort)
          reject(error)
        },
      }
      const abort = (): void => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(signal?.reason)
      }
      manyWaiters(signal)
      signal?.addEventListener('abort', abort, { once: true })
      waiting.push(entry)
    })
  }

  function giveBack(member: Member): void {
    const next = waiting.shift()
    if (next === undefined) free.push(member)
    else next.give(member)
  }

  async function stop(member: Member): Promise<void> {
    const connection = member.connection
    delete member.connection
    delete member.root
    member.used = false
    await connection?.close()
  }

  async function prepare(
    member: Member,
    lease: LeaseOptions,
    signal: AbortSignal | undefined,
  ): Promise<McpConnection> {
    if (
      member.connection !== undefined &&
      (!member.connection.healthy() || (lease.fresh === true && member.used))
    ) {
      await stop(member)
    }
    const root = lease.root === undefined ? undefined : await realpath(lease.root)
    let connection = member.connection
    if (connection === undefined) {
      const config =
        typeof options.server === 'function' ? await options.server(member.index) : options.server
      // The MCP client is loaded when a server is first needed, because its dependencies are the slowest part of
      // `import 'agoge'`.
      const { connectServer } = await import('./mcp-client.ts')
      connection = await connectServer(config, {
        ...(options.roots === true ? { roots: root === undefined ? [] : [root] } : {}),
        ...defined({ callSeconds: options.callSeconds }),
        connectSeconds: options.connectSeconds ?? 60,
        ...defined({ redact: options.redact, signal }),
      })
      if (closed) {
        await connection.close()
        throw poolClosed()
      }
      member.connection = connection
      if (root !== undefined && canListRoots(connection)) await confirmRoot(connection, root)
    } else if (root !== undefined && member.root !== root) {
      delete member.root
      await connection.setRoots([root])
      if (canListRoots(connection)) await confirmRoot(connection, root)
    }
    if (root !== undefined) member.root = root
    member.used = true
    return connection
  }

  return {
    async lease(lease = {}) {
      if (closed) throw poolClosed()
      const signal = joinSignals(options.signal, lease.signal)
      signal?.throwIfAborted()
      const member = await take(lease.root, signal)
      try {
        signal?.throwIfAborted()
        const connection = await prepare(member, lease, signal)
        let released = false
        return {
          index: member.index,
          connection,
          specs: connection.specs,
          async call(name, args, callOptions) {
            if (released) throw new InfrastructureError(`${name}: the lease of this server was released`)
            return connection.call(name, args, callOptions)
          },
          async release() {
            if (released) return
            released = true
            if (!connection.healthy()) await stop(member)
            giveBack(member)
          },
        }
      } catch (error) {
        // A member that could not be prepared is in an unknown state: the next lease restarts it.
        await stop(member)
        giveBack(member)
        throw error
      }
    },
    async close() {
      closed = true
      for (const entry of waiting.splice(0)) entry.refuse(poolClosed())
      await Promise.all(members.map(stop))
    },
  }
}

const rootsTool = 'list_allowed_directories'

function canListRoots(connection: McpConnection): boolean {
  return connection.specs.some((spec) => spec.name === rootsTool)
}

/** Waits until the server has read the new roots. An earlier call would run in the sandbox of another episode. */
async function confirmRoot(connection: McpConnection, root: string): Promise<void> {
  const until = performance.now() + 5000
  for (;;) {
    const result = await connection.call(rootsTool, {})
    const folders = result.text
      .split('\n')
      .filter((line) => line.startsWith('/') || /^[A-Za-z]:\\/.test(line))
    if (folders.length === 1 && folders[0] === root) return
    if (performance.now() > until) {
      throw new InfrastructureError(
        `the server did not switch to the folder it was given; it allows: ${result.text}`,
      )
    }
    await nextTick()
  }
}

function joinSignals(
  first: AbortSignal | undefined,
  second: AbortSignal | undefined,
): AbortSignal | undefined {
  return first === undefined || second === undefined ? (first ?? second) : AbortSignal.any([first, second])
}

function poolClosed(): InfrastructureError {
  return new InfrastructureError('the pool of servers is closed')
}
