import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AgogeError } from '../../../error.ts'
import { RequestError } from './request-error.ts'

const local = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

/** Whether the address is that of this machine alone. */
export function isLocalHost(host: string): boolean {
  return local.has(host)
}

/** Refuses to listen where others can come in, unless they need a key. */
export function checkExposure(host: string, key: string | undefined): void {
  if (isLocalHost(host) || (key !== undefined && key !== '')) return
  throw new AgogeError(`Others could use the model at ${host} without a key.`, {
    code: 'needs-key',
    given: host,
    expected: '127.0.0.1, or a key',
    hint: 'Set one in the environment variable AGOGE_SERVE_KEY, or leave out --host.',
  })
}

/** Throws `RequestError` for a request without the key, or one that a foreign page had a browser send to this machine. */
export function checkAccess({ headers }: IncomingMessage, key: string | undefined): void {
  if (key === undefined || key === '') {
    const host = (headers.host ?? '').replace(/:\d+$/, '')
    if (!isLocalHost(host))
      throw new RequestError(
        403,
        'unknown_host',
        `This server answers for 127.0.0.1 and localhost, not for ${host}.`,
      )
    return
  }
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  if (!timingSafeEqual(digest(given), digest(key)))
    throw new RequestError(
      401,
      'invalid_api_key',
      'Wrong key, or none: send it as "Authorization: Bearer KEY".',
    )
}
