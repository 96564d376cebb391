import { createJoiningQueue, createSampleQueue } from '../../agent/sample-queue.ts'
import { createGrammarCompiler } from '../../grammar/compiler.ts'
import { checkExposure, type HttpApp } from '../http.ts'
import { checkAccess, openApp, readRequest } from './app.ts'
import { answerChat } from './chat-completions.ts'
import type { ServedModel } from './generate.ts'
import { RequestError, respond, shownValue } from './protocol.ts'
import type { Json } from './protocol.ts'
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
  const routes = (app: HttpApp): void => {
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
  }
  const { url, close } = await openApp({
    host,
    port,
    routes,
    check: (incoming) => checkAccess(incoming, key),
    onRequest,
  })
  return {
    url: `${url}/v1`,
    async close(graceSeconds) {
      await close(graceSeconds)
      await compiler.dispose()
    },
  }
}

const describeModel = ({ name, window, format }: ServedModel): Json => ({
  id: name,
  object: 'model',
  created: Math.floor(Date.now() / 1000),
  owned_by: 'agoge',
  max_model_len: window,
  // False for a model that knows only the tools of its training, whatever a request offers.
  reads_tool_definitions: format?.readsTools ?? false,
})

function checkModel({ model: given }: Json, { name }: ServedModel): void {
  if (given === undefined || given === name) return
  const problem = `The model ${shownValue(given)} does not exist; this server has ${JSON.stringify(name)}.`
  throw new RequestError(404, 'model_not_found', problem, 'model')
}
