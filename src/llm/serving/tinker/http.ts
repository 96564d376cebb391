import type { IncomingMessage, ServerResponse } from 'node:http'
import { timingSafeEqual } from 'node:crypto'
import { parseJsonBody } from '../parse-json.ts'
import { refuse, refusalText, statusOf } from './refusal.ts'

/** What a handler answers: JSON unless it is bytes. */
export interface Reply {
  status?: number
  json?: unknown
  bytes?: Uint8Array
  headers?: Record<string, string>
}

/** The body of a request, up to so many bytes. */
export async function readBody(request: IncomingMessage, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    refuse('tinker-body-too-large', `The body has more than ${most} bytes`, {
      hint: 'Send fewer sequences at once.',
    })
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge()
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw refuse('tinker-media-type', 'Compressed bodies are not understood', {
      given: encoding,
      expected: 'no content-encoding, as this server says in client/config',
    })
  }
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > most) throw tooLarge()
    parts.push(part)
  }
  return new Uint8Array(Buffer.concat(parts))
}

export function parseJson(body: Uint8Array): unknown {
  return parseJsonBody(body, (problem, expected) => {
    throw refuse('tinker-bad-request', `The body ${problem}`, { expected })
  })
}

/** @throws AgogeError `tinker-bad-request` for what is no address, such as `//` */
export function readUrl({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(url, 'http://server')
  } catch {
    throw refuse('tinker-bad-request', 'The address cannot be read', { given: url, expected: 'a path' })
  }
}

export function send(response: ServerResponse, { status = 200, json, bytes, headers = {} }: Reply): void {
  const body = bytes ?? new TextEncoder().encode(json === undefined ? '' : JSON.stringify(json, asList))
  const type = bytes === undefined ? { 'content-type': 'application/json' } : {}
  response.writeHead(status, { ...type, 'content-length': String(body.length), ...headers })
  response.end(body)
}

/** Typed arrays as lists; JSON would make objects of them. */
function asList(_name: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value
}

/** An error as the protocol's clients read it: `detail` is what they show. */
export function errorReply(error: unknown): Reply {
  const status = statusOf(error)
  return {
    status,
    json: { detail: refusalText(error) },
    ...(status === 429 || status === 503 ? { headers: { 'retry-after': '1' } } : {}),
  }
}

const local = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

/**
 * Lets in who has the key. Without a key only this machine is served: then the name by which the server was called must be a local one,
 * so that no web page can reach it by a name of its own.
 */
export function admit(request: IncomingMessage, apiKey: string | undefined): void {
  if (apiKey === undefined) {
    if (local.test(request.headers.host ?? '')) return
    throw refuse('tinker-forbidden', 'This server is for this machine only', { given: request.headers.host })
  }
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const given = request.headers['x-api-key'] ?? bearer
  if (typeof given === 'string' && sameText(given, apiKey)) return
  throw refuse('tinker-unauthorised', given === undefined ? 'The key is missing' : 'The key is wrong', {
    expected: 'the key of this server in the header X-API-Key',
  })
}

function sameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)]
  return one.length === other.length && timingSafeEqual(one, other)
}
