import { checkExposure, listen } from '../http.ts'
import { createServedModels, openBaseModels } from './models.ts'
import { openCheckpointStore } from './checkpoints.ts'
import { type Context, createSessions } from './context.ts'
import { createFutures } from './futures.ts'
import { createProtocolApp } from './http.ts'
import { errorResponse, refuse } from './fields.ts'
import { createSamplers } from './sampling.ts'
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
  /** Called for faults of the server's own. */
  onFault?: (error: unknown) => void
}

export interface TinkerServer {
  /** Address for `baseUrl`, TINKER_BASE_URL or --tinker-url. */
  url: string
  /** Takes nothing more, ends what is being carried out, lets go of the models. Checkpoints stay. */
  close(): Promise<void>
}

/**
 * A server of the Tinker protocol in front of the local engine: clients of that protocol train our models, all weights
 * (`lora_config` of rank 0, or none) or LoRA adapters. Requests are carried out one after the other. JSON, and protobuf as the SDK sends and
 * wants it since version 0.25.
 *
 * @throws AgogeError where a folder holds no model, the port is taken, or a key is missing.
 */
export async function createTinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { host = '127.0.0.1', port = 0, apiKey, maxBody = 64 * 2 ** 20, onFault = () => {} } = options
  const hint = 'Set the environment variable AGOGE_SERVE_KEY; clients send it as TINKER_API_KEY.'
  checkExposure(host, apiKey, 'tinker-needs-key', hint)
  const context = await createContext(options, onFault)
  const app = await createProtocolApp(context, { apiKey, maxBody, onFault })
  const codes = { taken: 'tinker-port', other: 'tinker-port' } as const
  const { server, url } = await listen(app, { host, port, codes, unreadable })
  // While the engine computes nobody listens; a connection must outlast that.
  server.keepAliveTimeout = 120_000
  server.headersTimeout = 125_000
  return {
    url,
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

const unreadable = (): Response =>
  errorResponse(refuse('tinker-bad-request', 'The request cannot be read', { expected: 'a path and a host' }))

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
