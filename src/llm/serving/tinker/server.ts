import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgogeError } from '../../../error.ts'
import { openBaseModels } from './base-models.ts'
import { openCheckpointStore } from './checkpoints.ts'
import type { Context } from './context.ts'
import { fieldsOf } from './fields.ts'
import { createFutures } from './futures.ts'
import { admit, errorReply, parseJson, readBody, readUrl, send } from './http.ts'
import type { Reply } from './http.ts'
import { readForwardBackwardRequest } from './protobuf/forward-backward-request.ts'
import { refuse } from './refusal.ts'
import { findRoute, openPaths, protocolPath } from './routes.ts'
import { createSamplers } from './samplers.ts'
import { createServedModels } from './served-models.ts'
import { createSessions } from './sessions.ts'
import { createWorkQueue } from './work-queue.ts'

export interface TinkerServerOptions {
  /** What clients can begin from: names, and folders of checkpoints. */
  models: Readonly<Record<string, string>>
  /** Where checkpoints are kept. They outlive the server. */
  store: string
  /** Default 127.0.0.1, which only this machine reaches. Any other needs a key. */
  host?: string
  /** Default: one that is free. */
  port?: number
  /** What clients must send. The SDK wants keys that begin with `tml-`. */
  apiKey?: string
  /** Of the engine. */
  threads?: number
  /** Models in memory. Default 8. */
  maxModels?: number
  /** Requests that wait; more are answered with 429. Default 1024. */
  maxQueue?: number
  /** Of a request's body, in bytes. Default 64 MiB. */
  maxBody?: number
  /** Is told of faults of the server's own. */
  onFault?: (error: unknown) => void
}

export interface TinkerServer {
  /** Address for `baseUrl`, TINKER_BASE_URL or --tinker-url. */
  url: string
  /** Takes nothing more, ends what is being carried out, lets go of the models. Checkpoints stay. */
  close(): Promise<void>
}

const protobufType = 'application/x-protobuf'

/**
 * A server of the Tinker protocol in front of the local engine: clients of that protocol train our models, all weights
 * (`lora_config` of rank 0, or none) or LoRA adapters. Requests are carried out one after the other. JSON, and protobuf as the SDK sends and
 * wants it since version 0.25.
 *
 * @throws AgogeError where a folder holds no model, the port is taken, or a key is missing.
 */
export async function createTinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { host = '127.0.0.1', port = 0, apiKey, maxBody = 64 * 2 ** 20, onFault = () => {} } = options
  if (!isLoopback(host) && (apiKey === undefined || apiKey === '')) {
    throw new AgogeError(`A server that others than this machine reach (${host}) needs a key.`, {
      code: 'tinker-needs-key',
      given: host,
      expected: 'a key, or the host 127.0.0.1',
      hint: 'Set the environment variable AGOGE_SERVE_KEY; clients send it as TINKER_API_KEY.',
    })
  }
  const context = await createContext(options, onFault)

  async function answer(request: IncomingMessage): Promise<Reply> {
    const { method = 'GET', headers } = request
    const url = readUrl(request)
    const path = protocolPath(url.pathname)
    if (path === undefined || !openPaths.includes(path)) admit(request, apiKey)
    const route = path === undefined ? undefined : findRoute(method, path)
    if (route === undefined)
      throw refuse('tinker-no-such-call', 'There is no such call', { given: `${method} ${url.pathname}` })
    const bytes = method === 'POST' ? await readBody(request, maxBody) : new Uint8Array(0)
    const type = headers['content-type']?.split(';')[0].trim().toLowerCase()
    const asProtobuf = path === 'forward_backward' && type === protobufType
    // A web page of another origin cannot send this type without being asked first, and is not let in then.
    if (method === 'POST' && !asProtobuf && type !== 'application/json')
      throw refuse('tinker-media-type', 'The type of the body is wrong', {
        given: type,
        expected: 'application/json',
      })
    const decoded = asProtobuf ? readForwardBackwardRequest(bytes) : undefined
    const json = method === 'POST' && decoded === undefined ? parseJson(bytes) : {}
    return route.handler({
      context,
      body: decoded?.body ?? fieldsOf(json, 'body'),
      digest: createHash('sha256').update(`${path}\n`).update(bytes).digest('base64'),
      places: route.places,
      query: url.searchParams,
      protobuf: (headers.accept ?? '').toLowerCase().includes(protobufType),
      forwardOnly: decoded?.forwardOnly ?? false,
    })
  }

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown): Reply => {
        if (!AgogeError.isInstance(error)) onFault(error)
        // What was not read of a body that is refused must not be taken for the next request.
        if (!request.complete) response.setHeader('connection', 'close')
        return errorReply(error)
      })
      .then((reply) => send(response, reply))
      .catch(onFault)
  })
  // While the engine computes nobody listens; a connection must outlast that.
  server.keepAliveTimeout = 120_000
  server.headersTimeout = 125_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new AgogeError(`The server cannot listen at ${host}:${port}.`, {
          code: 'tinker-port',
          given: cause.code,
          expected: 'an address of this machine with a port that is free',
          cause,
        }),
      ),
    )
    server.listen(port, host, resolve)
  })
  const { port: chosen } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${chosen}`,
    async close() {
      context.futures.close()
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
      await context.work.close()
      server.closeAllConnections()
      await stopped
      await context.models.dispose()
      await context.samplers.dispose()
    },
  }
}

async function createContext(
  { models: folders, store, threads, maxModels = 8, maxQueue = 1024 }: TinkerServerOptions,
  onFault: (error: unknown) => void,
): Promise<Context> {
  const base = await openBaseModels(folders, threads)
  const samplers = createSamplers(base, threads)
  const sessions = createSessions()
  const models = createServedModels(base, {
    most: maxModels,
    isZeroVariance: (session) => sessions.isZeroVariance(session),
    onClose: (model) => samplers.freeze(model),
  })
  const work = createWorkQueue({ limit: maxQueue })
  const futures = createFutures(onFault)
  return {
    base,
    models,
    samplers,
    sessions,
    store: openCheckpointStore(store),
    work,
    futures,
    samples: new Map(),
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}
