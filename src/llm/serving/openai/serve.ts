import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { checked, noSecrets, redacted } from '../../../untrusted/untrusted.ts'
import { createJoiningQueue, createSampleQueue } from '../../agent/sample-queue.ts'
import { createGrammarCompiler } from '../../grammar/compiler.ts'
import {
  bearerOf,
  calledHost,
  checkExposure,
  createHttpApp,
  dropBody,
  isLocalHost,
  isSameKey,
  listen,
  readBody,
} from '../http.ts'
import { bodyLimits, createJsonReader } from '../json-body.ts'
import { ownTurn } from '../turns.ts'
import { answerChat } from './chat-completions.ts'
import { RequestError, errorResponse, isRecord, respond, shownValue } from './protocol.ts'
import type { Json } from './protocol.ts'
import type { ServedModel } from './generate.ts'
import { answerText } from './text-completions.ts'

export interface ServeOptions {
  model: ServedModel
  /** Default: 127.0.0.1. Other hosts need a key. */
  host?: string
  /** Default: a free port. */
  port?: number
  /** The key that clients must send as `Authorization: Bearer KEY`. */
  key?: string
  /** Maximum rows (choices of requests) that wait or are being sampled. Further requests get status 429. Default: 256. */
  mostRows?: number
  /** Maximum size of a request's body in bytes. Default: 1 MiB. */
  mostBytes?: number
  /** Called for every request after its response. */
  onRequest?: (line: { method: string; path: string; status: number; seconds: number }) => void
}

export interface Served {
  /** Address including the version, e.g. `http://127.0.0.1:8000/v1`. */
  url: string
  /** Stops accepting requests, waits up to `graceSeconds` (default: 5) for running ones, then aborts them. */
  close: (graceSeconds?: number) => Promise<void>
}

/**
 * An OpenAI-compatible endpoint for a model: `GET /v1/models`, `POST /v1/chat/completions`, `POST /v1/completions`. Concurrent
 * requests are batched. If the backend supports continuous batching, new requests join at the next token; otherwise they form
 * the next batch. While a model computes in this thread nothing else is answered: open one that many use with `apart: true`.
 *
 * @throws AgogeError `needs-key` if other machines can reach the host without a key, `port-taken` if the port is in use.
 * @example
 * const { folder, backend, tokenizer } = await loadModel(undefined, { apart: true })
 * const format = await readChatFormat(folder, tokenizer)
 * const window = backend.config.max_position_embeddings
 * const { url, close } = await serveOpenAI({ model: { name: 'agoge', backend, tokenizer, format, window } })
 */
export async function serveOpenAI(options: ServeOptions): Promise<Served> {
  const { model, host = '127.0.0.1', port = 0, key, mostRows = 256, mostBytes = 2 ** 20, onRequest } = options
  const hint = 'Set one in the environment variable AGOGE_SERVE_KEY, or leave out --host.'
  checkExposure(host, key, 'needs-key', hint)
  const { continuousBatching } = model.backend
  const queue =
    continuousBatching === undefined
      ? createSampleQueue(model.backend, mostRows)
      : createJoiningQueue({ continuousBatching }, mostRows)
  // The compiler's thread starts with the first grammar.
  const compiler = createGrammarCompiler(model.tokenizer.texts())
  const described = describeModel(model)
  /** Running requests. */
  const open = new Set<AbortController>()
  let closing = false

  const app = await createHttpApp()
  app.onError(async (error, { get, env }) => {
    const isOver = await dropBody(env.incoming)
    return errorResponse(error, get('signal'), isOver ? {} : { connection: 'close' })
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
    checkAccess(incoming, key)
    await next()
  })
  app.get('/v1/models', ({ json }) => json({ object: 'list', data: [described] }))
  app.get('/v1/models/:name{.+}', ({ req, json, notFound }) =>
    req.param('name') === model.name ? json(described) : notFound(),
  )
  for (const { path, answer } of [
    { path: '/v1/chat/completions', answer: answerChat },
    { path: '/v1/completions', answer: answerText },
  ]) {
    app.post(path, async ({ env, get }) => {
      const body = await readRequest(env.incoming, mostBytes)
      checkModel(body, model)
      return respond(get('signal'), (reply) => answer(body, model, queue, reply, compiler))
    })
    app.all(path, () => {
      throw new RequestError(405, 'method_not_allowed', `Use POST for ${path}.`)
    })
  }

  const { server, url } = await listen(app, {
    host,
    port,
    codes: { taken: 'port-taken', other: 'cannot-listen' },
    unreadable: () => errorResponse(new RequestError(400, 'bad_request', 'The request cannot be read.')),
  })
  return {
    url: `${url}/v1`,
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
      await compiler.dispose()
    },
  }
}

const stopped = (): RequestError => new RequestError(503, 'shutting_down', 'The server was stopped.')

const describeModel = ({ name, window, format }: ServedModel): Json => ({
  id: name,
  object: 'model',
  created: Math.floor(Date.now() / 1000),
  owned_by: 'agoge',
  max_model_len: window,
  // False for a model that knows only the tools of its training, whatever a request offers.
  reads_tool_definitions: format?.readsTools ?? false,
})

/** Throws `RequestError` for a request without the key, or one that a foreign website sent through a browser. */
function checkAccess(incoming: IncomingMessage, key: string | undefined): void {
  if (key === undefined || key === '') {
    const host = calledHost(incoming)
    if (isLocalHost(host)) return
    const problem = `This server answers for 127.0.0.1 and localhost, not for ${host}.`
    throw new RequestError(403, 'unknown_host', problem)
  }
  if (isSameKey(bearerOf(incoming) ?? '', key)) return
  const problem = 'Wrong key, or none: send it as "Authorization: Bearer KEY".'
  throw new RequestError(401, 'invalid_api_key', problem)
}

/** The JSON object in a request's body. Throws `RequestError` (415, 413, 400) for anything else. */
async function readRequest(incoming: IncomingMessage, mostBytes: number): Promise<Json> {
  // A browser cannot send this type to another origin without a preflight request.
  if (!/^application\/json\b/i.test(incoming.headers['content-type'] ?? ''))
    throw new RequestError(415, 'unsupported_media_type', 'Send JSON, with content-type: application/json.')
  const reader = createJsonReader(bodyLimits, (problem, expected) => {
    throw new RequestError(400, 'invalid_json', `The request ${problem}: expected ${expected}.`)
  })
  await readBody(
    incoming,
    mostBytes,
    (part) => reader.push(part),
    () => new RequestError(413, 'request_too_large', `The request is longer than ${mostBytes} bytes.`),
  )
  await ownTurn()
  const body = await reader.end()
  await ownTurn()
  return redacted(checked(body, objectOf), noSecrets)
}

function objectOf(body: unknown): Json {
  if (isRecord(body)) return body
  throw new RequestError(400, 'invalid_json', 'The request is not a JSON object.')
}

function checkModel({ model: given }: Json, { name }: ServedModel): void {
  if (given === undefined || given === name) return
  const problem = `The model ${shownValue(given)} does not exist; this server has ${JSON.stringify(name)}.`
  throw new RequestError(404, 'model_not_found', problem, 'model')
}
