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
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).filter(
        ([name]) => !ownHeaders.has(name) && !name.startsWith('x-agoge-'),
      ),
    )
    // What is recorded must be readable. The others decide for themselves.
    if (body !== undefined)
      Object.assign(headers, { 'accept-encoding': 'identity', 'content-length': body.length })
    return new Promise((resolve, reject) => {
      let isOver = false
      let ended: (ending: Forwarded['ending']) => void = () => {}
      const sent = request(
        {
          protocol: base.protocol,
          hostname: base.hostname,
          port: base.port,
          method: incoming.method,
          path: `${prefix}${path}`,
          headers,
          agent,
        },
        (answer) => {
          const { statusCode = 502 } = answer
          const kept: Buffer[] = []
          let size = 0
          const passed = Object.entries(answer.headers).filter(([name]) => !ownHeaders.has(name))
          outgoing.writeHead(statusCode, { ...Object.fromEntries(passed), ...call.headers() })
          // With the first bytes, if they have come too.
          setImmediate(() => outgoing.flushHeaders())
          answer.on('data', (part: Buffer) => {
            size += part.length
            if (size <= mostBytes) kept.push(part)
          })
          answer.pipe(outgoing)
          ended = (ending) => {
            if (isOver) return
            isOver = true
            resolve({
              status: statusCode,
              contentType: answer.headers['content-type'] ?? '',
              body: size > mostBytes ? undefined : Buffer.concat(kept),
              encoding: answer.headers['content-encoding'] ?? 'identity',
              ending,
            })
          }
          answer.on('end', () => ended('whole'))
          // The client sees that the answer broke off.
          answer.on('close', () => {
            if (answer.complete) return
            ended('cut')
            outgoing.destroy()
          })
        },
      )
      outgoing.on('close', () => {
        if (outgoing.writableFinished) return
        ended('left')
        if (!isOver) reject(new Error('the client hung up'))
        isOver = true
        sent.destroy()
      })
      sent.on('error', (error) => {
        if (isOver) return
        if (outgoing.headersSent) return ended('cut')
        isOver = true
        reject(
          new RequestError(502, 'upstream_unreachable', `The service cannot be reached: ${error.message}`),
        )
      })
      if (body === undefined) incoming.pipe(sent)
      else sent.end(body)
    })
  }
  return { forward, close: () => agent.destroy() }
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
