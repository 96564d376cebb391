import { basename } from 'node:path'
import { ProtocolError, type StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { received, redacted, type Untrusted } from '../../untrusted/untrusted.ts'
import { InfrastructureError, type Toolbox, type ToolSpec } from './tool.ts'
import {
  callResult,
  checkNames,
  cutResult,
  type ListedTools,
  toErrorResult,
  toolsPage,
  type UnusableTool,
} from './mcp-results.ts'
import { handshake, type McpSession } from './mcp-session.ts'
import { openSignIn, type SignInOptions } from './oauth.ts'
import { hideMarks } from '../../runs/process-watchdog.ts'
import { redactError, redactTools } from './redact.ts'
import type { ServerConfig } from './server-config.ts'
import { causeText, connectHint, isTimeout } from './stdio-transport.ts'

export interface ConnectOptions {
  /** Cancels connecting. Each call has a signal of its own. */
  signal?: AbortSignal
  /** Folders offered to the server as its roots. Default: the client declares no roots. */
  roots?: readonly string[]
  /**
   * Seconds until the server must have answered `initialize`. Default: 10, and 60 for commands that may first download
   * a program (`npx`, `uvx`, `docker` ...).
   */
  connectSeconds?: number
  /** Seconds that one call may take before the server counts as hung. Default: 20. */
  callSeconds?: number
  /**
   * Hides secrets in everything the server sends: its name, tools, results and errors. A tool whose name contains a
   * secret is `unusable`. Default: nothing is hidden.
   */
  redact?: (text: string) => string
  /** How a person signs in to a server with `oauth`. */
  signIn?: SignInOptions
}

const connectSeconds = 10
const downloadSeconds = 60
/** Commands that may first download the program they start. */
const downloaders = new Set([
  'npx',
  'npm',
  'pnpm',
  'pnpx',
  'yarn',
  'bunx',
  'bun',
  'deno',
  'uvx',
  'uv',
  'pipx',
  'docker',
  'podman',
])

/** Default seconds for a server to start; see `ConnectOptions`. */
export function defaultConnectSeconds(config: ServerConfig): number {
  if ('url' in config) return connectSeconds
  const program = basename(config.command.replaceAll('\\', '/')).replace(/\.(?:cmd|exe|bat)$/i, '')
  return downloaders.has(program) ? downloadSeconds : connectSeconds
}

/** Characters of a cursor. Those of real servers have some hundreds. */
const longestCursor = 10_000
/** More tools than any real server lists. The limit stops a server that returns a new cursor forever. */
const mostTools = 5000
const mostPages = 500
const listSeconds = 60

/** A connected server. After a crash, a hang or a cancelled call it is no longer `healthy`: close and replace it. */
export interface McpConnection extends Toolbox {
  /** The name and version that the server reports. */
  readonly serverName: string
  readonly serverVersion: string
  readonly instructions: string | undefined
  /** Process id of a stdio server. */
  readonly pid: number | undefined
  healthy(): boolean
  /** Offers other roots and notifies the server. Resolves when the server has asked for them. */
  setRoots(roots: readonly string[]): Promise<void>
  /** Tools that the server lists but nobody can call. They are not in `specs`. */
  readonly unusable: readonly UnusableTool[]
  /**
   * Lists the tools again; `specs` holds those listed at the time of connection. A call of one that the server has
   * withdrawn since throws an InfrastructureError.
   */
  listTools(): Promise<ToolSpec[]>
  close(): Promise<void>
}

/**
 * Connects to an MCP server over stdio or streamable HTTP and lists its tools. An error that the server itself reports
 * is a result with `isError`.
 *
 * @throws AgogeError if the command does not exist.
 * @throws InfrastructureError if the server does not start. Later calls throw it if the server crashes, hangs or cannot
 * be reached.
 * @example
 * const server = await connectServer(readServerConfig('filesystem'))
 * const { text } = await server.call('list_directory', { path: '.' })
 * await server.close()
 */
export async function connectServer(
  config: ServerConfig,
  options: ConnectOptions = {},
): Promise<McpConnection> {
  options.signal?.throwIfAborted()
  const signIn =
    'url' in config && config.oauth !== undefined
      ? await openSignIn(config, config.oauth, options.signIn)
      : undefined
  const hide = (text: string): string => hideMarks(options.redact?.(text) ?? text)
  const redact = signIn === undefined ? hide : (text: string) => hide(signIn.hide(text))
  const label = config.name ?? ('command' in config ? config.command : new URL(config.url).host)
  const limitSeconds = options.connectSeconds ?? defaultConnectSeconds(config)
  const callTimeout = (options.callSeconds ?? 20) * 1000
  let roots = options.roots ?? []
  let rootsAsked = (): void => {}
  let broken: string | undefined
  let closing = false
  let connecting = true

  let session: McpSession | undefined
  let changed = false

  function fault(doing: string, cause: unknown): Error {
    if (connecting && options.signal?.aborted) return asError(options.signal.reason)
    return redactError(describeFault(doing, cause), redact)
  }

  function describeFault(doing: string, cause: unknown): AgogeError | InfrastructureError {
    // The listing has already reported its error.
    if (AgogeError.isInstance(cause) || cause instanceof InfrastructureError) return cause
    const slow = doing === 'connect' && isTimeout(cause)
    const stdio = session?.stdio
    const detail = [
      slow ? `no answer in ${limitSeconds} s` : (stdio?.refused() ?? causeText(cause, redact)),
      // It was ended for what it sent.
      stdio?.ended() === undefined || stdio.refused() !== undefined
        ? ''
        : `the process ended with ${stdio.ended()}`,
      stdio === undefined || stdio.stderr() === '' ? '' : `its last words: ${stdio.stderr().trim()}`,
      stdio?.stray() === undefined ? '' : `it began its standard output with: ${stdio.stray()}`,
    ]
    broken ??= detail[0] || 'broken'
    const hint = connecting ? connectHint(slow ? 'slow' : cause, stdio) : undefined
    return new InfrastructureError(`MCP server ${label}: ${doing}: ${detail.filter(Boolean).join('; ')}`, {
      cause,
      ...defined({ hint }),
    })
  }

  async function close(): Promise<void> {
    closing = true
    signIn?.close()
    if (session?.stdio !== undefined) await session.stdio.close()
    else if (session !== undefined) {
      const farewell = (session.transport as StreamableHTTPClientTransport).terminateSession().catch(() => {})
      await Promise.race([farewell, new Promise((resolve) => setTimeout(resolve, 300).unref())])
    }
    await session?.client.close().catch(() => {})
  }

  function endless(what: string): Error {
    const message = `MCP server ${label}: tools/list: ${what}`
    return new InfrastructureError(redact(message), { hint: 'This has to be put right in the server.' })
  }

  async function listTools({ client }: McpSession): Promise<ListedTools> {
    const pages: Untrusted<ListedTools>[] = []
    if (client.getServerCapabilities()?.tools === undefined) return { specs: [], unusable: [] }
    let count = 0
    const seen = new Set<string>()
    const until = performance.now() + listSeconds * 1000
    let cursor: string | undefined
    do {
      const left = until - performance.now()
      if (left <= 0) throw endless(`it has not listed all of its tools in ${listSeconds} s`)
      if (seen.size >= mostPages) throw endless(`it lists more than ${mostPages} pages of tools`)
      const page = await client
        .request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, toolsPage, {
          timeout: Math.min(callTimeout, left),
          ...(connecting && options.signal !== undefined ? { signal: options.signal } : {}),
        })
        .catch((error: unknown) => {
          throw fault('tools/list', error)
        })
      pages.push(page.tools)
      count += page.count
      if (count > mostTools) throw endless(`it lists more than ${mostTools} tools`)
      cursor = page.nextCursor
      // They are kept, to notice one that comes again.
      if (cursor !== undefined && cursor.length > longestCursor)
        throw endless(`it gives a cursor of more than ${longestCursor} characters`)
      if (cursor !== undefined && seen.has(cursor)) throw endless('it gives the same page twice')
      if (cursor !== undefined) seen.add(cursor)
    } while (cursor !== undefined)
    // Redact first, then shorten: half a secret would no longer match.
    return checkNames(redactTools(pages, redact))
  }

  try {
    const opened = await handshake({
      config,
      redact,
      signIn,
      roots:
        options.roots === undefined
          ? undefined
          : () => {
              rootsAsked()
              return roots
            },
      onSession: (next) => (session = next),
      onClosed: () => {
        if (!closing) broken ??= 'the connection was closed'
      },
      onToolsChanged: () => (changed = true),
      milliseconds: limitSeconds * 1000,
      signal: options.signal,
    })
    signIn?.close()
    const { client, stdio } = opened
    const { specs, unusable } = await listTools(opened)
    connecting = false
    const info = client.getServerVersion()
    /** Tools that the server no longer lists. */
    const gone = new Set<string>()
    const listAgain = async (): Promise<ToolSpec[]> => {
      changed = false
      const now = (await listTools(opened)).specs
      const names = new Set(now.map(({ name }) => name))
      gone.clear()
      for (const { name } of specs) if (!names.has(name)) gone.add(name)
      return now
    }
    return {
      specs,
      unusable,
      serverName: redacted(received(info?.name ?? 'unknown'), redact),
      serverVersion: redacted(received(info?.version ?? 'unknown'), redact),
      instructions: redacted(received(client.getInstructions()), redact),
      get pid() {
        return stdio?.pid()
      },
      healthy: () => broken === undefined && !closing && stdio?.ended() === undefined,
      listTools: listAgain,
      close,
      async setRoots(next) {
        roots = next
        const asked = new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(fault('roots', 'the server did not ask for its roots')), 5000)
          rootsAsked = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        await Promise.all([
          asked,
          client.sendRootsListChanged().catch((error: unknown) => {
            throw fault('roots', error)
          }),
        ])
      },
      async call(name, args, callOptions = {}) {
        if (broken !== undefined || closing) throw fault(name, broken ?? 'the connection is closed')
        callOptions.signal?.throwIfAborted()
        const signal = callOptions.signal
        if (changed) await listAgain()
        if (gone.has(name))
          throw new InfrastructureError(`MCP server ${label}: ${name}: the server no longer lists this tool`)
        try {
          const result = await client.request(
            {
              method: 'tools/call',
              params: {
                name,
                arguments: args,
                ...(callOptions.id === undefined ? {} : { _meta: { 'agoge/id': callOptions.id } }),
              },
            },
            callResult,
            { timeout: callTimeout, ...defined({ signal }) },
          )
          return cutResult(redacted(result, redact))
        } catch (error) {
          if (signal?.aborted) {
            // Nobody knows what the server did with a cancelled call, so no other episode may use it.
            broken ??= 'a call was cancelled'
            throw asError(signal.reason)
          }
          if (error instanceof ProtocolError) return cutResult(redacted(toErrorResult(error.message), redact))
          throw fault(name, error)
        }
      },
    }
  } catch (error) {
    const reason = fault('connect', error)
    await close()
    throw reason
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
