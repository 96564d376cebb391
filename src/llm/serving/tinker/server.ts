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
  /** Base models by name, with their folders. */
  models: Readonly<Record<string, string>>
  /** Folder of the checkpoints. They outlive the server. */
  store: string
  /** Default: 127.0.0.1, which only this machine can reach. Other hosts need a key. */
  host?: string
  /** Default: a free port. */
  port?: number
  /** The key that clients must send. The SDK requires keys that start with `tml-`. */
  apiKey?: string
  /** Threads of the engine. */
  threads?: number
  /** Models in memory. Default: 8. */
  maxModels?: number
  /** Maximum waiting requests. Further ones get status 429. Default: 1024. */
  maxQueue?: number
  /** Maximum size of a request's body in bytes. Default: 64 MiB. */
  maxBody?: number
  /** Called for errors of the server itself. */
  onFault?: (error: unknown) => void
}

export interface TinkerServer {
  /** Address for `baseUrl`, TINKER_BASE_URL or --tinker-url. */
  url: string
  /** Stops accepting requests, finishes running ones, disposes of the models. Checkpoints stay. */
  close(): Promise<void>
}

/**
 * A server of the Tinker protocol over the local engine. Clients of the protocol train models here: all weights (`lora_config`
 * of rank 0, or none) or LoRA adapters. Requests run one after the other. Supports JSON, and protobuf as the SDK uses it since
 * version 0.25.
 *
 * @throws AgogeError if a folder holds no model, the port is in use, or a key is missing.
 */
export async function createTinkerServer(options: TinkerServerOptions): Promise<TinkerServer> {
  const { host = '127.0.0.1', port = 0, apiKey, maxBody = 64 * 2 ** 20, onFault = () => {} } = options
  const hint = 'Set the environment variable AGOGE_SERVE_KEY; clients send it as TINKER_API_KEY.'
  checkExposure(host, apiKey, 'tinker-needs-key', hint)
  const context = await createContext(options, onFault)
  const app = await createProtocolApp(context, { apiKey, maxBody, onFault })
  const codes = { taken: 'tinker-port', other: 'tinker-port' } as const
  const { server, url } = await listen(app, { host, port, codes, unreadable })
  // While the engine computes, the server does not answer; connections must survive that.
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
