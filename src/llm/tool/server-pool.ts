import { realpath } from 'node:fs/promises'
import { setImmediate as nextTick } from 'node:timers/promises'
import { defined } from '../../defined.ts'
import { InfrastructureError, type Toolbox } from './tool.ts'
import type { McpConnection } from './mcp-client.ts'
import type { ServerConfig } from './server-config.ts'
import { manyWaiters } from './waiting.ts'

export interface ServerPoolOptions {
  /** The server, or how index i of the pool is started (a fixed folder or file of its own, say). */
  server: ServerConfig | ((index: number) => ServerConfig | Promise<ServerConfig>)
  /** How many servers run at most; each starts when first needed. */
  size: number
  /** True where the server takes its folders as roots: then a lease may name the `root` it is to see. */
  roots?: boolean
  signal?: AbortSignal
  /**
   * How long one call may take before the server counts as hung. Default 20. Calls that wait for this server wait as
   * long, so keep it well below the deadline that the caller sets.
   */
  callSeconds?: number
  /** How long each server may take to start. Default 60: several may start at the same time. */
  connectSeconds?: number
  /** Hides secrets in all that the servers say, as of `connectServer`. */
  redact?: (text: string) => string
}

export interface LeaseOptions {
  /** The one folder the server may see during the lease (pools with `roots`). */
  root?: string
  /** A process that has served nobody before. */
  fresh?: boolean
  signal?: AbortSignal
}

/** A server that is the holder's alone until `release`. */
export interface ServerLease extends Toolbox {
  readonly index: number
  readonly connection: McpConnection
  release(): Promise<void>
}

export interface ServerPool {
  /**
   * Waits for a free server, in order of asking. A member that crashed or hung is killed and started anew here.
   * Throws InfrastructureError where no server comes up.
   */
  lease(options?: LeaseOptions): Promise<ServerLease>
  /** Ends all servers; leases still waiting are refused. */
  close(): Promise<void>
}

interface Member {
  index: number
  connection?: McpConnection
  root?: string
  used: boolean
}

/** A small pool of MCP servers of one kind. Members start lazily and are handed out first come, first served. */
export function createServerPool(options: ServerPoolOptions): ServerPool {
  const size = Math.max(1, Math.floor(options.size))
  const free: Member[] = Array.from({ length: size }, (_, index) => ({ index, used: false }))
  const waiting: { give: (member: Member) => void; refuse: (error: Error) => void }[] = []
  const members = [...free]
  let closed = false

  function take(root: string | undefined, signal: AbortSignal | undefined): Promise<Member> {
    if (free.length > 0) {
      // One that already sees this root needs no switch; else one that runs needs no start.
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
      // The MCP client is loaded when a server is first needed: with what it imports it is the slowest part of `import 'agoge'`.
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
        // A member that could not be prepared is of unknown state: the next lease starts it anew.
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

/** The server learns of new roots in its own time; acting earlier would act in the sandbox of another episode. */
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
