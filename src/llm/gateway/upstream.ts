import {
  Agent as HttpAgent,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { RequestError } from '../serving/openai/protocol.ts'

/** What a service answered, once the client has it. */
export interface Forwarded {
  status: number
  contentType: string
  /** The body as it went to the client. Undefined if it is longer than what is recorded. */
  body: Buffer | undefined
  encoding: string
  /** `cut`: the service broke off. `left`: the client did. */
  ending: 'whole' | 'cut' | 'left'
}

export interface Upstream {
  /**
   * Sends a request on, and its answer back, byte for byte as it comes.
   *
   * @param body of the request; undefined: it is read from `incoming`.
   * @throws RequestError 502 if the service cannot be reached.
   */
  forward: (call: ForwardedCall) => Promise<Forwarded>
  close: () => void
}

export interface ForwardedCall {
  incoming: IncomingMessage
  outgoing: ServerResponse
  path: string
  body?: Buffer | undefined
  /** Headers for the client besides those of the service. Called when the answer begins. */
  headers: () => Record<string, string>
  mostBytes: number
}

/** Headers of one connection, and those that are made anew. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
])

/**
 * A service behind the gateway.
 *
 * @param address with or without `/v1` at its end.
 */
export function createUpstream(address: string): Upstream {
  const base = new URL(address)
  const prefix = base.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')
  const isSecure = base.protocol === 'https:'
  const agent = new (isSecure ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const request = isSecure ? httpsRequest : httpRequest

  function forward(call: ForwardedCall): Promise<Forwarded> {
    const { incoming, outgoing, path, body, mostBytes } = call
    return new Promise((resolve, reject) => {
      let isOver = false
      let close: () => void = () => {}
      const end = (forwarded: Forwarded): void => {
        if (!isOver) resolve(forwarded)
        isOver = true
      }
      const fail = (error: Error): void => {
        if (!isOver) reject(error)
        isOver = true
      }
      let received: (ending: Forwarded['ending']) => void = () => {}

      function send(): void {
        const sent = request({
          protocol: base.protocol,
          hostname: base.hostname,
          port: base.port,
          method: incoming.method,
          path: `${prefix}${path}`,
          headers: headersOf(call),
          agent,
        })
        close = () => void sent.destroy()
        sent.on('response', (answer) => (received = pipeAnswer(answer, call, mostBytes, end)))
        sent.on('error', (error: NodeJS.ErrnoException) => {
          if (outgoing.headersSent) return received('cut')
          // The service has closed a connection that was kept open, before it saw the request.
          if (sent.reusedSocket && error.code === 'ECONNRESET' && body !== undefined && !isOver) return send()
          const problem = `The service cannot be reached: ${error.message}`
          fail(new RequestError(502, 'upstream_unreachable', problem))
        })
        if (body === undefined) incoming.pipe(sent)
        else sent.end(body)
      }
      outgoing.on('close', () => {
        if (outgoing.writableFinished) return
        received('left')
        fail(new Error('the client hung up'))
        close()
      })
      send()
    })
  }
  return { forward, close: () => agent.destroy() }
}

/** The headers of a request, as the service gets them. */
function headersOf({
  incoming,
  body,
}: ForwardedCall): Record<string, string | string[] | number | undefined> {
  const isPassed = (name: string): boolean => !ownHeaders.has(name) && !name.startsWith('x-agoge-')
  const passed = Object.entries(incoming.headers).filter(([name]) => isPassed(name))
  // What is recorded must be readable. The others decide for themselves.
  const made = body === undefined ? {} : { 'accept-encoding': 'identity', 'content-length': body.length }
  return { ...Object.fromEntries(passed), ...made }
}

/** Sends an answer to the client, and keeps it. Returns a function for another ending than its own. */
function pipeAnswer(
  answer: IncomingMessage,
  { outgoing, headers }: ForwardedCall,
  mostBytes: number,
  end: (forwarded: Forwarded) => void,
): (ending: Forwarded['ending']) => void {
  const { statusCode: status = 502 } = answer
  const kept: Buffer[] = []
  let size = 0
  const passed = Object.entries(answer.headers).filter(([name]) => !ownHeaders.has(name))
  outgoing.writeHead(status, { ...Object.fromEntries(passed), ...headers() })
  // With the first bytes, if they have come too.
  setImmediate(() => outgoing.flushHeaders())
  const ended = (ending: Forwarded['ending']): void =>
    end({
      status,
      contentType: answer.headers['content-type'] ?? '',
      body: size > mostBytes ? undefined : Buffer.concat(kept),
      encoding: answer.headers['content-encoding'] ?? 'identity',
      ending,
    })
  answer.on('data', (part: Buffer) => {
    size += part.length
    if (size <= mostBytes) kept.push(part)
  })
  answer.pipe(outgoing)
  answer.on('end', () => ended('whole'))
  answer.on('close', () => {
    if (answer.complete) return
    ended('cut')
    // The client sees that the answer broke off.
    outgoing.destroy()
  })
  return ended
}

/**
 * The text of a body.
 *
 * @throws Error if it is packed in a way that is not known here, or is longer than `mostBytes`.
 */
export function textOfBody(body: Buffer, encoding: string, mostBytes: number): string {
  const options = { maxOutputLength: mostBytes }
  if (encoding === 'gzip' || encoding === 'x-gzip') return gunzipSync(body, options).toString()
  if (encoding === 'br') return brotliDecompressSync(body, options).toString()
  if (encoding === 'deflate') return inflateSync(body, options).toString()
  if (encoding === 'identity' || encoding === '') return body.toString()
  throw new Error(`the answer has the unknown encoding ${encoding.slice(0, 40)}`)
}
