import { pathToFileURL } from 'node:url'
import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { defined } from '../../defined.ts'
import { limitedFetch } from './limited-fetch.ts'
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
 * @param negotiation `legacy` starts with `initialize`, which nearly every server answers; some end at a request that they
 * do not know. `auto` asks for the newest revision of the protocol.
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
    fetch: limitedFetch,
    requestInit: { headers: config.headers ?? {} },
    ...(signIn === undefined ? {} : { authProvider: signIn.provider }),
  })
  return { client, transport, stdio: undefined }
}

/**
 * Connects. Signs in first if the server asks for it, and connects again with the newest revision of the protocol if the
 * server refuses the older handshake.
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
  const { signIn, signal, milliseconds } = options
  let tried: McpSession | undefined
  async function connect(negotiation: 'auto' | 'legacy'): Promise<McpSession> {
    const session = openSession(options, negotiation)
    tried = session
    options.onSession(session)
    await session.client.connect(session.transport, { timeout: milliseconds, ...defined({ signal }) })
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client is no event target.
    session.client.onclose = () => options.onClosed()
    return session
  }
  try {
    return await connect('legacy')
  } catch (error) {
    const failed = tried
    if (failed !== undefined && signIn?.finish !== undefined && UnauthorizedError.isInstance(error)) {
      await signIn.finish(failed.transport as StreamableHTTPClientTransport, signal)
      return connect('legacy')
    }
    if (!refusesInitialize(error)) throw error
    await failed?.stdio?.close()
    // A server that does not speak the newest revision either is described by its first refusal.
    return connect('auto').catch((second: unknown) => {
      throw signal?.aborted === true ? second : error
    })
  }
}

/** Over HTTP the refusal may come as a status. 401, 403 and faults of the server say something else. */
function refusesInitialize(error: unknown): boolean {
  if (error instanceof SdkHttpError)
    return error.status !== undefined && [400, 404, 405, 406].includes(error.status)
  const codes: number[] = [ProtocolErrorCode.MethodNotFound, ProtocolErrorCode.UnsupportedProtocolVersion]
  return error instanceof ProtocolError && codes.includes(error.code)
}
