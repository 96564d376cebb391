import type { IncomingMessage } from 'node:http'
import { sha256 } from '../../runs/checksums.ts'
import { isSameKey, keyOf } from '../serving/http.ts'
import { checkHost } from '../serving/openai/app.ts'
import { RequestError } from '../serving/openai/protocol.ts'
import type { SessionPlace } from './sessions.ts'

/** Where a request belongs, and the key of its client for the service behind. */
export interface RequestPlace extends SessionPlace {
  /** The path without the name of a session. */
  path: string
  key: string | undefined
}

const sessionName = /^[\w.@+-]{1,200}$/

/** A key of the form `session-NAME` or `session-NAME:KEY`. */
const sessionKey = /^session-([\w.@+-]{1,200})(?::(.*))?$/

/**
 * The session of a request: by the header `x-agoge-session`, by a path that begins with `/s/NAME`, or by a key `session-NAME:KEY`.
 *
 * @throws RequestError 400 for a name that is none.
 */
export function placeOf(incoming: IncomingMessage): RequestPlace {
  const { headers, url = '/' } = incoming
  const inPath = /^\/s\/([^/?]+)(\/.*)$/.exec(url)
  const inKey = sessionKey.exec(keyOf(incoming) ?? '')
  const header = (name: string): string | undefined => {
    const value = headers[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const name = header('x-agoge-session') ?? inPath?.[1] ?? inKey?.[1]
  const task = header('x-agoge-task')
  if (name !== undefined) checkName(name)
  const key = inKey === null ? keyOf(incoming) : inKey[2]
  return { name, task, key, owner: sha256(key ?? ''), path: inPath?.[2] ?? url }
}

/** @throws RequestError 400 for a name that is none. */
export function checkName(name: string): void {
  if (sessionName.test(name)) return
  const problem = 'The name of a session has at most 200 letters, digits and . _ @ + -'
  throw new RequestError(400, 'bad_session_name', problem)
}

/** Replaces a key that names a session by the key that it holds. */
export function withoutSessionKey({ headers }: IncomingMessage, key: string | undefined): void {
  if (sessionKey.test(/^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '')) {
    if (key === undefined) delete headers.authorization
    else headers.authorization = `Bearer ${key}`
  }
  const given = headers['x-api-key']
  if (typeof given !== 'string' || !sessionKey.test(given)) return
  if (key === undefined) delete headers['x-api-key']
  else headers['x-api-key'] = key
}

/**
 * Throws `RequestError` for a request without the key of the gateway, or one that a foreign website sent through a browser. The key of
 * the gateway is the key of the client; where that is for the service behind, it is the header `x-agoge-key`.
 */
export function checkGatewayAccess(
  incoming: IncomingMessage,
  key: string | undefined,
  hasUpstream: boolean,
): void {
  if (key === undefined || key === '') return checkHost(incoming)
  const header = incoming.headers['x-agoge-key']
  const clients = hasUpstream ? undefined : placeOf(incoming).key
  if (isSameKey(typeof header === 'string' ? header : (clients ?? ''), key)) return
  const where = hasUpstream ? 'in the header x-agoge-key' : 'as the key of the client'
  throw new RequestError(401, 'invalid_api_key', `Wrong key of the gateway, or none: send it ${where}.`)
}
