import { pathToFileURL } from 'node:url'
import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { defined } from '../../defined.ts'
import type { SignIn } from './oauth.ts'
import type { ServerConfig } from './server-config.ts'
import { createStdioTransport, type StdioTransport } from './stdio-transport.ts'

/** A client of the MCP SDK with its transport, before and after the handshake. */
export interface McpSession {
  client: Client
  transport: StdioTransport | StreamableHTTPClientTransport
  /** The transport, if the server is a process. */
  stdio: StdioTransport | undefined
}

interface SessionOptions {
  config: ServerConfig
  redact: (text: string) => string
  signIn: SignIn | undefined
  /** Folders offered to the server, called when it asks. Default: the client declares no roots. */
  roots: (() => readonly string[]) | undefined
  onClosed: () => void
  onToolsChanged: () => void
}

/**
 * Makes a client and its transport; `handshake` connects them.
 *
 * @param negotiation `auto` asks for the newest revision of the protocol and falls back to older ones. `legacy` starts
 * with `initialize`, which nearly every local server answers; some end at a request that they do not know.
 */
function openSession(options: SessionOptions, negotiation: 'auto' | 'legacy'): McpSession {
  const { config, redact, signIn, roots } = options
  const client = new Client(
    { name: 'agoge', version: '1' },
    {
      capabilities: roots === undefined ? {} : { roots: { listChanged: true } },
      versionNegotiation: { mode: negotiation },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: () => options.onToolsChanged() },
      },
    },
  )
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({
      roots: roots().map((root) => ({ uri: pathToFileURL(root).href })),
    }))
  }
  // Neither is declared, but a server may ask nevertheless. Nobody is there to answer.
  client.fallbackRequestHandler = async ({ method }) => {
    if (method === 'elicitation/create') return { action: 'decline' }
    if (method === 'sampling/createMessage')
      throw new ProtocolError(-1, 'Declined: Agoge answers no sampling requests of a server')
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Agoge does not answer ${method}`)
  }
  if ('command' in config) {
    const stdio = createStdioTransport(config, redact)
    return { client, transport: stdio, stdio }
  }
  const transport = new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: config.headers ?? {} },
    ...(signIn === undefined ? {} : { authProvider: signIn.provider }),
  })
  return { client, transport, stdio: undefined }
}

/**
 * Connects. Signs in first if the server asks for it, and starts a process again with the newest revision of the
 * protocol if it refuses the older handshake.
 *
 * @param onSession called with each session before it is tried, so that the caller can describe and close the last.
 */
export async function handshake(
  options: SessionOptions & {
    milliseconds: number
    signal?: AbortSignal | undefined
    onSession: (session: McpSession) => void
  },
): Promise<McpSession> {
  const { config, signIn, signal, milliseconds } = options
  let current: McpSession | undefined
  async function connect(negotiation: 'auto' | 'legacy'): Promise<McpSession> {
    const session = openSession(options, negotiation)
    current = session
    options.onSession(session)
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client is no event target.
    session.client.onclose = () => {
      if (current === session) options.onClosed()
    }
    await session.client.connect(session.transport, { timeout: milliseconds, ...defined({ signal }) })
    return session
  }
  try {
    return await connect('url' in config ? 'auto' : 'legacy')
  } catch (error) {
    const failed = current
    if (failed?.stdio !== undefined && refusesInitialize(error)) {
      current = undefined
      await failed.stdio.close()
      return connect('auto')
    }
    if (failed !== undefined && signIn?.finish !== undefined && asksForSignIn(error)) {
      current = undefined
      await signIn.finish(failed.transport as StreamableHTTPClientTransport, signal)
      return connect('auto')
    }
    throw error
  }
}

function refusesInitialize(error: unknown): boolean {
  const codes: number[] = [ProtocolErrorCode.MethodNotFound, ProtocolErrorCode.UnsupportedProtocolVersion]
  return error instanceof ProtocolError && codes.includes(error.code)
}

/** The negotiation of the protocol wraps the error of the transport. */
function asksForSignIn(error: unknown): boolean {
  if (UnauthorizedError.isInstance(error)) return true
  return error instanceof Error && error.cause !== undefined && asksForSignIn(error.cause)
}
