import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { AgogeError } from '../../error.ts'
import type { ErrorCode } from '../../error.ts'
import { inSharedTurn, ownTurn } from './turns.ts'

interface HttpEnv {
  Bindings: HttpBindings
  /** `signal` aborts when the client disconnects. */
  Variables: { signal: AbortSignal }
}

/** A Hono app over Node's HTTP. `context.env` holds Node's request and response. */
export type HttpApp = Hono<HttpEnv>
export type HttpContext = Context<HttpEnv>

/**
 * An app without routes. Ignores a trailing slash of a path. Hono is loaded here, so that programs without a server do not load
 * it.
 */
export async function createHttpApp(): Promise<HttpApp> {
  const { Hono } = await import('hono')
  return new Hono<HttpEnv>({ getPath: ({ url }) => new URL(url).pathname.replace(/(?<!\/)\/+$/, '') || '/' })
}

interface ListenOptions {
  host: string
  port: number
  /** Error codes for a port in use, and for other reasons not to listen. */
  codes: { taken: ErrorCode; other: ErrorCode }
  /** The response to an unreadable request, e.g. one with an invalid `Host`. */
  unreadable: (error: unknown) => Response
  /** Takes requests that need no app; returns false for the others. */
  first?: ((incoming: IncomingMessage, outgoing: ServerResponse) => boolean) | undefined
}

/**
 * Serves an app. The returned `url` has neither a path nor a trailing slash.
 *
 * @throws AgogeError if the server cannot listen.
 */
export async function listen(
  app: HttpApp,
  { host, port, codes, unreadable, first = () => false }: ListenOptions,
): Promise<{ server: Server; url: string }> {
  const { getRequestListener } = await import('@hono/node-server')
  // Keeps the host program's own `Request` and `Response`.
  const listener = oneEachTurn(
    getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: unreadable }),
  )
  const server = createServer((incoming, outgoing) => {
    if (!first(incoming, outgoing)) listener(incoming, outgoing)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new AgogeError(`The server cannot listen at ${host}:${port}.`, {
          code: cause.code === 'EADDRINUSE' ? codes.taken : codes.other,
          given: cause.message,
          expected: 'a free port, and an address of this machine',
          hint: 'Choose another one: --port 0 takes any free port.',
          cause,
        }),
      )
    })
    server.listen(port, host, resolve)
  })
  const { address, port: chosen } = server.address() as AddressInfo
  return { server, url: `http://${address.includes(':') ? `[${address}]` : address}:${chosen}` }
}

/** Calls the listener once in each turn of the event loop: a connection may send a hundred requests in one piece. */
const oneEachTurn =
  (listener: RequestListener): RequestListener =>
  (incoming, outgoing) =>
    void ownTurn().then(() => listener(incoming, outgoing))

/**
 * Reads the body of a request. Reads Node's stream, which takes half the time of the web stream that Hono reads.
 *
 * @param take is called with each part as it arrives
 * @param tooLarge makes the error for a body of more than `most` bytes
 */
export async function readBody(
  incoming: HttpBindings['incoming'],
  most: number,
  take: (part: Buffer) => void,
  tooLarge: () => Error,
): Promise<void> {
  if (Number(incoming.headers['content-length'] ?? 0) > most) throw tooLarge()
  let size = 0
  // The connection outlives a refusal, so that its answer arrives.
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) throw tooLarge()
    // What has arrived together comes without a pause, up to two megabytes of each client.
    await inSharedTurn(() => take(part))
  }
}

/** How long the rest of a refused body is still read. */
const restSeconds = 2

/**
 * Reads the rest of a body that was refused and forgets it, before the answer is sent: many clients send all before they read, and a
 * connection that is closed with unread bytes loses the answer. One piece of some kilobytes each millisecond, however fast the client
 * sends. Returns whether the body has ended; if not, close the connection.
 */
export async function dropBody(incoming: HttpBindings['incoming']): Promise<boolean> {
  if (incoming.complete || incoming.destroyed) return true
  let [isLate, timer] = [false, undefined as NodeJS.Timeout | undefined]
  async function dropAll(): Promise<void> {
    for await (const _ of incoming.iterator({ destroyOnReturn: false })) {
      if (isLate) return
      await sleep(1)
    }
  }
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, restSeconds * 1000)))
  // A client that leaves ends it too.
  await Promise.race([dropAll().catch(() => {}), late])
  isLate = true
  clearTimeout(timer)
  return incoming.complete
}

/** Whether the name is local to this machine. No website can have such a name. */
export function isLocalHost(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host)
}

/** Throws if the server would listen on an address that other machines can reach, without a key. */
export function checkExposure(host: string, key: string | undefined, code: ErrorCode, hint: string): void {
  if (isLocalHost(host) || (key !== undefined && key !== '')) return
  throw new AgogeError(`Other machines could use the model at ${host} without a key.`, {
    code,
    given: host,
    expected: '127.0.0.1, or a key',
    hint,
  })
}

/** The host name of the request, without the port. */
export function calledHost({ headers }: IncomingMessage): string {
  return (headers.host ?? '').replace(/:\d+$/, '')
}

/** The key of a header `Authorization: Bearer KEY`. */
export function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** The key of a request, in the header of OpenAI or in that of Anthropic. */
export function keyOf(incoming: IncomingMessage): string | undefined {
  const given = incoming.headers['x-api-key']
  return bearerOf(incoming) ?? (typeof given === 'string' ? given : undefined)
}

/** Compares keys in constant time, so that timing reveals neither their difference nor their length. */
export function isSameKey(given: string, key: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(key))
}
