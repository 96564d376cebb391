import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { checked, noSecrets, redacted } from '../../../untrusted/untrusted.ts'
import { type HttpApp, createHttpApp, dropBody, isLocalHost, listen, readBody } from '../http.ts'
import { bearerOf, calledHost, isSameKey } from '../http.ts'
import { bodyLimits, createJsonReader, type JsonLimits } from '../json-body.ts'
import { ownTurn } from '../turns.ts'
import { errorResponse, isRecord, type Json, RequestError } from './protocol.ts'

export interface AppOptions {
  host: string
  port: number
  routes: (app: HttpApp) => void
  /** Takes requests that need no app; returns false for the others. */
  first?: Parameters<typeof listen>[1]['first']
  /** Throws `RequestError` for a request that may not be answered. */
  check: (incoming: IncomingMessage) => void
  /** The response to a failed request. Default: in the shape of OpenAI. */
  errorOf?: (
    error: unknown,
    request: { signal: AbortSignal; path: string; headers: Record<string, string> },
  ) => Response
  /** Called for every request after its response. */
  onRequest?: ((line: { method: string; path: string; status: number; seconds: number }) => void) | undefined
}

export interface OpenedApp {
  /** Without a path. */
  url: string
  /** Stops accepting requests, waits up to `graceSeconds` (default: 5) for running ones, then aborts them. */
  close: (graceSeconds?: number) => Promise<void>
}

/**
 * Serves routes whose requests can be aborted: by the client, and when the app is closed.
 *
 * @throws AgogeError `port-taken` if the port is in use.
 */
export async function openApp(options: AppOptions): Promise<OpenedApp> {
  const { host, port, routes, first, check, onRequest } = options
  const { errorOf = (error, { signal, headers }) => errorResponse(error, signal, headers) } = options
  /** Running requests. */
  const open = new Set<AbortController>()
  let closing = false
  const app = await createHttpApp()
  app.onError(async (error, { req, get, env }) => {
    const isOver = await dropBody(env.incoming)
    const headers: Record<string, string> = isOver ? {} : { connection: 'close' }
    return errorOf(error, { signal: get('signal'), path: req.path, headers })
  })
  app.notFound(({ req }) => {
    throw new RequestError(404, 'unknown_url', `There is no ${req.method} ${req.path}.`)
  })
  app.use(async ({ req, env: { incoming, outgoing }, set }, next) => {
    const started = performance.now()
    const controller = new AbortController()
    open.add(controller)
    set('signal', controller.signal)
    outgoing.on('close', () => {
      open.delete(controller)
      // Stops sampling when the client disconnects.
      if (!outgoing.writableFinished) controller.abort(new Error('the client hung up'))
      const path = (incoming.url ?? '/').split('?')[0]
      const seconds = (performance.now() - started) / 1000
      onRequest?.({ method: req.method, path, status: outgoing.statusCode, seconds })
    })
    if (closing) throw new RequestError(503, 'shutting_down', 'The server is being stopped.')
    check(incoming)
    await next()
  })
  routes(app)
  const { server, url } = await listen(app, {
    host,
    port,
    first,
    codes: { taken: 'port-taken', other: 'cannot-listen' },
    unreadable: () => errorResponse(new RequestError(400, 'bad_request', 'The request cannot be read.')),
  })
  return {
    url,
    async close(graceSeconds = 5) {
      closing = true
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeIdleConnections()
      const grace = new AbortController()
      await Promise.race([
        closed,
        sleep(graceSeconds * 1000, undefined, { signal: grace.signal }).catch(() => {}),
      ])
      grace.abort()
      for (const controller of open) controller.abort(stopped())
      await Promise.race([closed, sleep(200)])
      server.closeAllConnections()
      await closed
    },
  }
}

const stopped = (): RequestError => new RequestError(503, 'shutting_down', 'The server was stopped.')

/** Throws `RequestError` for a request without the key, or one that a foreign website sent through a browser. */
export function checkAccess(incoming: IncomingMessage, key: string | undefined): void {
  if (key === undefined || key === '') return checkHost(incoming)
  if (isSameKey(bearerOf(incoming) ?? '', key)) return
  const problem = 'Wrong key, or none: send it as "Authorization: Bearer KEY".'
  throw new RequestError(401, 'invalid_api_key', problem)
}

/** Throws `RequestError` for a request that a foreign website sent through a browser. */
export function checkHost(incoming: IncomingMessage): void {
  const host = calledHost(incoming)
  if (isLocalHost(host)) return
  const problem = `This server answers for 127.0.0.1 and localhost, not for ${host}.`
  throw new RequestError(403, 'unknown_host', problem)
}

/** Throws `RequestError` for a request of another type. A browser cannot send this one to another origin without a preflight request. */
export function checkJsonType({ headers }: IncomingMessage): void {
  if (/^application\/json\b/i.test(headers['content-type'] ?? '')) return
  throw new RequestError(415, 'unsupported_media_type', 'Send JSON, with content-type: application/json.')
}

/**
 * The JSON object in a request's body. Throws `RequestError` (415, 413, 400) for anything else.
 *
 * @param take is called with each part of the body as it arrives.
 */
export async function readRequest(
  incoming: IncomingMessage,
  mostBytes: number,
  { limits = bodyLimits, take }: { limits?: JsonLimits; take?: (part: Buffer) => void } = {},
): Promise<Json> {
  checkJsonType(incoming)
  const reader = createJsonReader(limits, (problem, expected) => {
    throw new RequestError(400, 'invalid_json', `The request ${problem}: expected ${expected}.`)
  })
  await readBody(
    incoming,
    mostBytes,
    (part) => {
      take?.(part)
      reader.push(part)
    },
    () => new RequestError(413, 'request_too_large', `The request is longer than ${mostBytes} bytes.`),
  )
  await ownTurn()
  const body = await reader.end()
  await ownTurn()
  return redacted(checked(body, objectOf), noSecrets)
}

/** Throws `RequestError` for what is no JSON object. */
export function objectOf(body: unknown): Json {
  if (isRecord(body)) return body
  throw new RequestError(400, 'invalid_json', 'The request is not a JSON object.')
}
