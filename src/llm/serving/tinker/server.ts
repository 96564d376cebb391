import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AgogeError } from '../../../error.ts'
import { apiPath } from '../../backend/tinker/wire.ts'
import {
  bearerOf,
  calledHost,
  checkExposure,
  createHttpApp,
  dropBody,
  isLocalHost,
  isSameKey,
  listen,
} from '../http.ts'
import type { HttpApp, HttpContext } from '../http.ts'
import * as checkpoints from './checkpoints.ts'
import { openCheckpointStore } from './checkpoints.ts'
import type { Call, Context, Handler } from './context.ts'
import { createSessions } from './context.ts'
import { errorResponse, refuse } from './fields.ts'
import { createFutures, retrieveFuture } from './futures.ts'
import { createServedModels, openBaseModels } from './models.ts'
import { createBodyReader, protobufType } from './request-body.ts'
import { createSamplers, sample } from './sampling.ts'
import { toResponse } from './response.ts'
import * as sessions from './session-handlers.ts'
import * as training from './training.ts'
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
  /** Maximum size of a request that computes a loss, in bytes. Default: 64 MiB. Other requests have up to 1 MiB. */
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
  const { host = '127.0.0.1', port = 0, apiKey, onFault = () => {} } = options
  const hint = 'Set the environment variable AGOGE_SERVE_KEY; clients send it as TINKER_API_KEY.'
  checkExposure(host, apiKey, 'tinker-needs-key', hint)
  const context = await createContext(options, onFault)
  const app = await createProtocolApp(context, { apiKey, onFault })
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
      await context.bodies.dispose()
      await context.models.dispose()
      await context.samplers.dispose()
    },
  }
}

const unreadable = (): Response =>
  errorResponse(refuse('tinker-bad-request', 'The request cannot be read', { expected: 'a path and a host' }))

async function createContext(
  {
    models: folders,
    store,
    threads,
    maxModels = 8,
    maxQueue = 1024,
    maxBody = 64 * 2 ** 20,
  }: TinkerServerOptions,
  onFault: (error: unknown) => void,
): Promise<Context> {
  const base = await openBaseModels(folders, threads)
  const samplers = createSamplers(base, threads)
  const sessions = createSessions()
  const models = createServedModels(base, {
    most: maxModels,
    isGone: (session) => sessions.isGone(session),
    onClose: (model) => samplers.freeze(model),
  })
  const work = createWorkQueue({ limit: maxQueue })
  const futures = createFutures(onFault)
  return {
    base,
    bodies: createBodyReader(maxBody),
    models,
    samplers,
    sessions,
    store: openCheckpointStore(store),
    work,
    futures,
    samples: new Map(),
  }
}

/** The protocol's routes by method and path, in Hono's syntax. The empty path is the server's root. */
const routes: Readonly<Record<string, Handler>> = {
  'GET ': sessions.root,
  'GET healthz': sessions.health,
  'POST client/config': sessions.clientConfig,
  'POST client/dynamic_config': sessions.dynamicConfig,
  'GET get_server_capabilities': sessions.capabilities,
  'POST create_session': sessions.createSession,
  'POST session_heartbeat': sessions.heartbeat,
  'POST create_model': sessions.createModel,
  'POST unload_model': sessions.unloadModel,
  'POST get_info': sessions.getInfo,
  'POST create_sampling_session': sessions.createSamplingSession,
  'GET samplers/:sampler': sessions.getSampler,
  'POST telemetry': sessions.telemetry,
  'POST forward': training.forwardCall,
  'POST forward_backward': training.forwardBackwardCall,
  'POST optim_step': training.optimStep,
  'POST save_weights': training.saveWeights,
  'POST save_weights_for_sampler': training.saveWeightsForSampler,
  'POST load_weights': training.loadWeights,
  'POST asample': sample,
  'POST retrieve_future': retrieveFuture,
  'POST weights_info': checkpoints.weightsInfo,
  'GET training_runs': checkpoints.listRuns,
  'GET training_runs/:run': checkpoints.getRun,
  'GET training_runs/:run/checkpoints': checkpoints.listCheckpoints,
  'GET models/:run/checkpoints': checkpoints.listCheckpoints,
  'GET checkpoints': checkpoints.listAllCheckpoints,
  'DELETE training_runs/:run/checkpoints/:kind/:name': checkpoints.deleteCheckpoint,
}

interface ProtocolOptions {
  apiKey: string | undefined
  onFault: (error: unknown) => void
}

/** The app of the protocol: checks the key, parses the request, sends the response. */
async function createProtocolApp(context: Context, { apiKey, onFault }: ProtocolOptions): Promise<HttpApp> {
  const app = await createHttpApp()
  app.onError(async (error, { env: { incoming } }) => {
    // A client that hangs up in the middle of its request is no fault of the server.
    if (!AgogeError.isInstance(error) && !incoming.destroyed) onFault(error)
    const isOver = await dropBody(incoming)
    return errorResponse(error, isOver ? {} : { connection: 'close' })
  })
  app.notFound(({ req }) => {
    throw refuse('tinker-no-such-call', 'There is no such call', { given: `${req.method} ${req.path}` })
  })
  app.use(async ({ req, env: { incoming } }, next) => {
    // Clients without a key may check whether the server is up.
    if (req.path !== `${apiPath}/healthz`) admit(incoming, apiKey)
    checkPath(new URL(req.url).pathname)
    await next()
  })
  for (const [route, handler] of Object.entries(routes)) {
    const [method, path] = route.split(' ')
    const places = path === '' ? ['/', apiPath] : [`${apiPath}/${path}`]
    app.on(method, places, async (http) => toResponse(await handler(await readCall(http, context))))
  }
  return app
}

/** Parses a request and makes the checks shared by all routes. */
async function readCall({ req, env: { incoming } }: HttpContext, context: Context): Promise<Call> {
  const digest = createHash('sha256').update(`${req.path}\n`)
  const read = req.method === 'POST' ? await context.bodies.read(incoming, req.path, digest) : { body: {} }
  return {
    context,
    ...read,
    digest: digest.digest('base64'),
    params: req.param(),
    query: new URL(req.url).searchParams,
    protobuf: (incoming.headers.accept ?? '').toLowerCase().includes(protobufType),
  }
}

/**
 * Accepts requests with the key. A server without a key serves only this machine. It then accepts only local host names, so that
 * no website can reach it through a name of its own.
 */
function admit(incoming: IncomingMessage, apiKey: string | undefined): void {
  if (apiKey === undefined) {
    if (isLocalHost(calledHost(incoming))) return
    throw refuse('tinker-forbidden', 'This server is for this machine only', { given: incoming.headers.host })
  }
  const given = incoming.headers['x-api-key'] ?? bearerOf(incoming)
  if (typeof given === 'string' && isSameKey(given, apiKey)) return
  throw refuse('tinker-unauthorised', given === undefined ? 'The key is missing' : 'The key is wrong', {
    expected: 'the key of this server in the header X-API-Key',
  })
}

/** Hono passes undecodable paths through unchanged; they are refused here. */
function checkPath(path: string): void {
  try {
    decodeURIComponent(path)
    if (!path.includes('//')) return
  } catch {
    // Refused below.
  }
  throw refuse('tinker-bad-request', 'The address cannot be read', {
    given: path,
    expected: 'UTF-8, with each % followed by two hexadecimal digits, and no empty part',
  })
}
