import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AgogeError } from '../../../error.ts'
import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'
import type { Trial } from '../config.ts'
import { calledHost, createHttpApp, dropBody, isLocalHost, listen, readBody } from '../../serving/http.ts'
import { labelPage } from './label-page.ts'
import { createRating } from './rating.ts'

/** Settings of `serveLabels`. */
export interface ServeLabelsOptions {
  trials: readonly Trial[]
  /** Labels are appended to this file. */
  file: string
  rater: string
  /** Of the order. Default: 0. */
  seed?: number
  /** Default: a free port. */
  port?: number
}

const mostBytes = 4096

/**
 * A page on this machine to rate the trials of an evaluation without seeing their model or their scores. Only pages of this server can
 * use it.
 *
 * @throws AgogeError `port-taken` if the port is in use.
 */
export async function serveLabels(
  options: ServeLabelsOptions,
): Promise<{ url: string; close: () => Promise<void> }> {
  const rating = createRating(options.trials, options)
  const nonce = randomBytes(16).toString('base64')
  const app = await createHttpApp()
  app.onError(async (error, { env }) => {
    await dropBody(env.incoming)
    const isOurs = AgogeError.isInstance(error)
    return Response.json(
      { error: isOurs ? error.message : 'the request failed' },
      { status: isOurs ? 400 : 500 },
    )
  })
  app.use(async ({ env: { incoming }, header }, next) => {
    checkOrigin(incoming)
    header('cache-control', 'no-store')
    header('x-content-type-options', 'nosniff')
    header(
      'content-security-policy',
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    await next()
  })
  app.get('/', ({ html }) => html(labelPage(nonce)))
  app.get('/state', ({ json }) => json(rating.state()))
  app.post('/label', async ({ env, json }) => {
    const { key, success } = await readJson(env.incoming)
    if (typeof success !== 'boolean') throw badRequest(success, '"success": true or false')
    rating.label(Number(key), success)
    return json(rating.state())
  })
  app.post('/skip', async ({ env, json }) => {
    rating.skip(Number((await readJson(env.incoming))['key']))
    return json(rating.state())
  })
  app.post('/undo', async ({ env, json }) => {
    await readJson(env.incoming)
    rating.takeBack()
    return json(rating.state())
  })
  const { server, url } = await listen(app, {
    host: '127.0.0.1',
    port: options.port ?? 0,
    codes: { taken: 'port-taken', other: 'cannot-listen' },
    unreadable: () => Response.json({ error: 'The request cannot be read.' }, { status: 400 }),
  })
  return {
    url,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** A website can neither be named like this machine, nor send JSON here without being asked where it comes from. */
function checkOrigin(incoming: IncomingMessage): void {
  const { origin, host } = incoming.headers
  const isOwn = origin === undefined || origin === `http://${host ?? ''}`
  if (isLocalHost(calledHost(incoming)) && isOwn) return
  throw badRequest(origin ?? host, 'a page of this server')
}

async function readJson(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  const type = incoming.headers['content-type'] ?? ''
  if (!type.startsWith('application/json')) throw badRequest(type, 'application/json')
  const parts: Buffer[] = []
  await readBody(
    incoming,
    mostBytes,
    (part) => parts.push(part),
    () => badRequest(`more than ${mostBytes} bytes`, 'a label'),
  )
  let value: unknown
  try {
    value = parseForeignJson(Buffer.concat(parts).toString('utf8'))
  } catch {
    value = undefined
  }
  if (!isRecord(value)) throw badRequest('something else', 'a JSON object')
  return value
}

function badRequest(given: unknown, expected: string): AgogeError {
  return new AgogeError('The request is not one of the page', { code: 'bad-argument', given, expected })
}
