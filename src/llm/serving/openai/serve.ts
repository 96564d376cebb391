import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgogeError } from '../../../error.ts'
import { createGrammarCompiler } from '../../grammar/index.ts'
import { checkAccess, checkExposure } from './access.ts'
import { answerChat } from './chat-completions.ts'
import { readBody } from './read-body.ts'
import { createReply } from './reply.ts'
import { errorBody, RequestError } from './request-error.ts'
import { createJoiningQueue } from '../../agent/joining-queue.ts'
import { createSampleQueue } from '../../agent/sample-queue.ts'
import type { ServedModel } from './served-model.ts'
import { answerText } from './text-completions.ts'

export interface ServeOptions {
  model: ServedModel
  /** Default 127.0.0.1; any other needs a key. */
  host?: string
  /** Default: one that is free. */
  port?: number
  /** What clients have to send as `Authorization: Bearer KEY`. */
  key?: string
  /** Rows (choices of requests) that may wait or be sampled at the same time; more are answered with status 429. Default 256. */
  mostRows?: number
  /** Longest body of a request, in bytes. Default 8 MiB. */
  mostBytes?: number
  /** Told of every request once it is answered. */
  onRequest?: (line: { method: string; path: string; status: number; seconds: number }) => void
}

export interface Served {
  /** With the version, e.g. `http://127.0.0.1:8000/v1`. */
  url: string
  /** Takes no further requests, lets those under way end for so many seconds (default 5), then breaks them off. */
  close: (graceSeconds?: number) => Promise<void>
}

/**
 * An OpenAI-compatible endpoint in front of a model: `GET /v1/models`, `POST /v1/chat/completions`, `POST /v1/completions`. What comes
 * while the model is busy joins what is being sampled, or makes the next batch where the backend cannot do that.
 *
 * @throws AgogeError `needs-key` for a host that others can reach without a key, `port-taken` where it cannot listen.
 */
export async function serveOpenAI(options: ServeOptions): Promise<Served> {
  const {
    model,
    host = '127.0.0.1',
    port = 0,
    key,
    mostRows = 256,
    mostBytes = 8 * 2 ** 20,
    onRequest,
  } = options
  checkExposure(host, key)
  const { continuousBatching } = model.backend
  const queue =
    continuousBatching === undefined
      ? createSampleQueue(model.backend, mostRows)
      : createJoiningQueue({ continuousBatching }, mostRows)
  // Its thread starts with the first grammar.
  const compiler = createGrammarCompiler(model.tokenizer.texts())
  const created = Math.floor(Date.now() / 1000)
  const open = new Set<AbortController>()
  let closing = false

  async function route(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { method = 'GET', url = '/' } = request
    const path = url.split('?')[0].replace(/\/+$/, '')
    if (closing) throw new RequestError(503, 'shutting_down', 'The server is being stopped.')
    checkAccess(request, key)
    const reply = createReply(response, signal)
    const described = {
      id: model.name,
      object: 'model',
      created,
      owned_by: 'agoge',
      max_model_len: model.window,
      // Without: it knows the tools that it was trained with, whatever a request offers.
      reads_tool_definitions: model.format?.readsTools ?? false,
    }
    if (method === 'GET' && path === '/v1/models') return reply.json({ object: 'list', data: [described] })
    if (method === 'GET' && path === `/v1/models/${encodeURIComponent(model.name)}`)
      return reply.json(described)
    const answer = { '/v1/chat/completions': answerChat, '/v1/completions': answerText }[path]
    if (answer === undefined) throw new RequestError(404, 'unknown_url', `There is no ${method} ${path}.`)
    if (method !== 'POST') throw new RequestError(405, 'method_not_allowed', `Use POST for ${path}.`)
    const body = await readBody(request, mostBytes)
    if (body['model'] !== undefined && body['model'] !== model.name) {
      const problem = `The model ${JSON.stringify(body['model'])} does not exist; this server has ${JSON.stringify(model.name)}.`
      throw new RequestError(404, 'model_not_found', problem, 'model')
    }
    await answer(body, model, queue, reply, compiler)
  }

  const server = createServer((request, response) => {
    const started = performance.now()
    const controller = new AbortController()
    open.add(controller)
    // A client that hangs up wants no more tokens.
    response.on('close', () => {
      open.delete(controller)
      if (!response.writableFinished) controller.abort(new Error('the client hung up'))
      const path = (request.url ?? '/').split('?')[0]
      const seconds = (performance.now() - started) / 1000
      onRequest?.({ method: request.method ?? 'GET', path, status: response.statusCode, seconds })
    })
    route(request, response, controller.signal).catch((error: unknown) => {
      fail(response, controller.signal.aborted && closing ? stopped() : error)
    })
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new AgogeError(`The server cannot listen at ${host}:${port}.`, {
          code: cause.code === 'EADDRINUSE' ? 'port-taken' : 'cannot-listen',
          given: cause.message,
          expected: 'a port that is free, and an address of this machine',
          hint: 'Choose another one: --port 0 takes any that is free.',
          cause,
        }),
      )
    })
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${shown}:${address.port}/v1`,
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
      for (const controller of open) controller.abort(new Error('the server was stopped'))
      await Promise.race([closed, sleep(200)])
      server.closeAllConnections()
      await closed
      await compiler.dispose()
    },
  }
}

const stopped = (): RequestError => new RequestError(503, 'shutting_down', 'The server was stopped.')

/** Tells the client what went wrong; in a stream that has begun, as its last event. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.writableEnded) return
  const told = asRequestError(error)
  const body = errorBody(told)
  if (response.headersSent) {
    response.end(`data: ${body}\n\n`)
    return
  }
  response.writeHead(told.status, {
    'content-type': 'application/json',
    ...(told.status === 429 ? { 'retry-after': '1' } : {}),
    // What is left of a body that is too long is not read.
    ...(told.status === 413 ? { connection: 'close' } : {}),
  })
  response.end(body)
}

/** Codes of errors that lie in what was asked for. */
const theirs = new Set([
  'bad-sampling-options',
  'bad-grammar',
  'grammar-too-large',
  'unsupported-schema',
  'unsupported-pattern',
])

function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (AgogeError.isInstance(error) && error.code === 'overloaded') {
    return new RequestError(
      429,
      'overloaded',
      `${error.message} ${String(error.given)} do; expected ${error.expected}`,
    )
  }
  if (AgogeError.isInstance(error) && theirs.has(error.code)) {
    return new RequestError(400, 'invalid_value', `${error.message}: expected ${error.expected ?? 'others'}`)
  }
  return new RequestError(500, 'internal_error', error instanceof Error ? error.message : String(error))
}
