import { createHash, randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  ClientCredentialsProvider,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  type StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { writeWhole } from '../../runs/files.ts'
import { readForeignObject } from '../../untrusted/foreign-file.ts'
import { redactorOf } from './redact.ts'
import type { HttpServerConfig, OAuthConfig } from './server-config.ts'

/** Signs in to an MCP server over HTTP with OAuth 2.1. */
export interface SignIn {
  readonly provider: OAuthClientProvider
  /** Hides the tokens of this sign-in in a text. */
  hide(text: string): string
  /**
   * Waits until the person has agreed in a browser, and exchanges the code for tokens. Undefined if no person can be
   * asked, as with client credentials.
   */
  finish?(transport: StreamableHTTPClientTransport, signal?: AbortSignal): Promise<void>
  /** Stops listening for the browser. */
  close(): void
}

export interface SignInOptions {
  /** Shows the address at which a person agrees. Default: writes it to standard error. */
  onAddress?: (address: string) => void
  /** Folder of the stored tokens. Default: `agoge/oauth` in `XDG_CONFIG_HOME` or `~/.config`. */
  folder?: string
  /** Seconds to wait for the person. Default: 180. */
  seconds?: number
}

/**
 * Opens the sign-in that the `oauth` field of a server declares: client credentials if it has a `clientSecret` and no
 * `grant`, otherwise the authorization code flow with PKCE and a redirect to this machine. Tokens of the latter are
 * stored in a file that only the user can read, and refreshed by the MCP client.
 *
 * @throws AgogeError `bad-mcp-config` if client credentials lack the id, the secret or the issuer. Without an issuer the
 * MCP server would decide who receives the secret.
 */
export async function openSignIn(
  server: HttpServerConfig,
  oauth: OAuthConfig,
  options: SignInOptions = {},
): Promise<SignIn> {
  const grant =
    oauth.grant ?? (oauth.clientSecret === undefined ? 'authorization_code' : 'client_credentials')
  return grant === 'client_credentials'
    ? clientCredentials(server, oauth)
    : authorizationCode(server, oauth, options)
}

/** A program's own identity. All connections to one server share the token. */
const machines = new Map<string, ClientCredentialsProvider>()

function clientCredentials(server: HttpServerConfig, oauth: OAuthConfig): SignIn {
  const { clientId, clientSecret, scope, issuer } = oauth
  if (clientId === undefined || clientSecret === undefined || issuer === undefined) {
    const missing = Object.entries({ clientId, clientSecret, issuer }).filter(
      ([, value]) => value === undefined,
    )
    throw new AgogeError(`The "oauth" entry of the server ${server.name ?? server.url} is not complete.`, {
      code: 'bad-mcp-config',
      given: `no ${missing.map(([name]) => `"${name}"`).join(', ')}`,
      expected:
        '"clientId", "clientSecret" and "issuer" (the address of the authorisation server) for client credentials',
      hint: 'Keep the secret in a variable: "clientSecret": "${NAME}".',
    })
  }
  const key = JSON.stringify([server.url, clientId, clientSecret, scope, issuer])
  const provider =
    machines.get(key) ??
    new ClientCredentialsProvider({
      clientId,
      clientSecret,
      clientName: 'Agoge',
      ...defined({ scope }),
      expectedIssuer: issuer,
    })
  machines.set(key, provider)
  return { provider, hide: (text) => hideTokens(text, provider.tokens()), close: () => {} }
}

interface Stored {
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens
  /** Port of the redirect that the client was registered with. */
  port?: number
}

async function authorizationCode(
  server: HttpServerConfig,
  oauth: OAuthConfig,
  options: SignInOptions,
): Promise<SignIn> {
  const store = tokenStore(server, oauth, options.folder)
  const stored = store.read()
  const listener = await listenForCode(oauth.redirectPort, stored.port)
  const redirectUrl = `http://127.0.0.1:${listener.port}/callback`
  // A client that was registered with another port must register again.
  if (stored.port !== undefined && stored.port !== listener.port) delete stored.client
  stored.port = listener.port
  const state = randomBytes(16).toString('hex')
  let verifier = ''
  let discovered: OAuthDiscoveryState | undefined
  let asked = false
  const show = options.onAddress ?? ((address) => process.stderr.write(askText(server, address)))
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Agoge',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: oauth.clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...defined({ scope: oauth.scope }),
    },
    state: () => state,
    clientInformation: () =>
      oauth.clientId === undefined
        ? stored.client
        : {
            client_id: oauth.clientId,
            ...defined({ client_secret: oauth.clientSecret, issuer: oauth.issuer }),
          },
    saveClientInformation(client) {
      stored.client = client
      store.write(stored)
    },
    tokens() {
      // Another process may have refreshed them.
      Object.assign(stored, defined({ tokens: store.read().tokens }))
      return stored.tokens
    },
    saveTokens(tokens) {
      stored.tokens = tokens
      store.write(stored)
    },
    redirectToAuthorization(address) {
      asked = true
      show(address.href)
    },
    saveCodeVerifier(code) {
      verifier = code
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(state) {
      discovered = state
    },
    discoveryState: () => discovered,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') delete stored.client
      if (scope === 'all' || scope === 'tokens') delete stored.tokens
      if (scope === 'all') store.remove()
      else store.write(stored)
    },
  }
  return {
    provider,
    hide: (text) => hideTokens(text, stored.tokens),
    async finish(transport, signal) {
      if (!asked) return
      const answer = await listener.answer((options.seconds ?? 180) * 1000, signal)
      const problem = answer.get('error')
      if (problem !== null || answer.get('state') !== state)
        throw new AgogeError(`Signing in to ${server.name ?? server.url} failed.`, {
          code: 'sign-in-failed',
          given: problem ?? 'an answer of another sign-in',
          expected: 'a person who agrees at the address shown',
        })
      await transport.finishAuth(answer)
    },
    close: () => listener.close(),
  }
}

const askText = (server: HttpServerConfig, address: string): string =>
  `The MCP server ${server.name ?? new URL(server.url).host} asks you to sign in. Open this address in a browser on this machine:\n  ${address}\n`

/** Tokens of one server and client, in a file with the rights 0600. */
function tokenStore(
  server: HttpServerConfig,
  oauth: OAuthConfig,
  given?: string,
): { read(): Stored; write(stored: Stored): void; remove(): void } {
  const base = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config')
  const folder = given ?? join(base, 'agoge', 'oauth')
  const key = JSON.stringify([server.url, oauth.clientId, oauth.scope, oauth.issuer])
  const file = join(folder, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`)
  return {
    read() {
      try {
        return existsSync(file) ? readForeignObject(file, 'unusable-path') : {}
      } catch {
        // A damaged file only means signing in again.
        return {}
      }
    },
    write: (stored) => writeWhole(file, JSON.stringify(stored), 0o600),
    remove: () => rmSync(file, { force: true }),
  }
}

interface CodeListener {
  port: number
  /** Resolves with the parameters of the redirect. */
  answer(milliseconds: number, signal?: AbortSignal): Promise<URLSearchParams>
  close(): void
}

/**
 * Listens on this machine only, for the redirect to a port of this machine.
 *
 * @param wanted the port that the client is registered with; an error if it is taken.
 * @param former the port used last time; a free one if it is taken.
 */
async function listenForCode(wanted: number | undefined, former = 0): Promise<CodeListener> {
  let receive: (parameters: URLSearchParams) => void
  const received = new Promise<URLSearchParams>((resolve) => (receive = resolve))
  const http = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const found = url.pathname === '/callback'
    response.writeHead(found ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    })
    response.end(found ? 'You can close this page and go back to Agoge.\n' : 'There is nothing here.\n')
    if (found) receive(url.searchParams)
  })
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      http.once('error', reject)
      http.listen(port, '127.0.0.1', () => {
        http.off('error', reject)
        resolve()
      })
    })
  if (wanted === undefined) await listen(former).catch(() => listen(0))
  else
    await listen(wanted).catch((cause: unknown) => {
      throw new AgogeError(`Port ${wanted} of this machine cannot receive the answer of the sign-in.`, {
        code: 'port-taken',
        given: wanted,
        expected: 'a free port, for "redirectPort" of the "oauth" entry',
        cause,
      })
    })
  http.unref()
  return {
    port: (http.address() as AddressInfo).port,
    async answer(milliseconds, signal) {
      const late = new Promise<never>((_, reject) => {
        const refuse = (): void => reject(signal?.reason)
        signal?.addEventListener('abort', refuse, { once: true })
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', refuse)
          reject(
            new AgogeError('Nobody signed in to the MCP server.', {
              code: 'sign-in-failed',
              given: `no answer in ${milliseconds / 1000} s`,
              expected: 'a person who agrees at the address shown',
              hint: 'Without a person, give the "oauth" entry a "clientId" and a "clientSecret", or the server "headers".',
            }),
          )
        }, milliseconds)
        void received.finally(() => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', refuse)
        })
      })
      return Promise.race([received, late])
    },
    close() {
      http.close()
      http.closeAllConnections()
    },
  }
}

function hideTokens(text: string, tokens: StoredOAuthTokens | undefined): string {
  const secrets = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token].filter(
    (value): value is string => value !== undefined && value.length >= 4,
  )
  return redactorOf(secrets).text(text)
}
