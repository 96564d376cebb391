import { createHash, type Hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AgogeError } from '../../../error.ts'
import { yieldToEventLoop } from '../../../event-loop.ts'
import { checked, noSecrets, received, redacted } from '../../../untrusted/untrusted.ts'
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
  readBody,
} from '../http.ts'
import type { HttpApp, HttpContext } from '../http.ts'
import { createJsonReader } from '../json-body.ts'
import * as checkpoints from './checkpoints.ts'
import { openCheckpointStore } from './checkpoints.ts'
import type { Context, Handler, Reply } from './context.ts'
import { createSessions } from './context.ts'
import { errorResponse, type Fields, fieldsOf, refuse } from './fields.ts'
import { createFutures, retrieveFuture } from './futures.ts'
import { createServedModels, openBaseModels } from './models.ts'
import { createSamplers, sample } from './sampling.ts'
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
    isGone: (session) => sessions.isGone(session),
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
  /** Maximum size of a request's body in bytes. */
  maxBody: number
  onFault: (error: unknown) => void
}

const protobufType = 'application/x-protobuf'

/** The app of the protocol: checks the key, parses the request, sends the response. */
async function createProtocolApp(
  context: Context,
  { apiKey, maxBody, onFault }: ProtocolOptions,
): Promise<HttpApp> {
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
    app.on(method, places, async (http) => toResponse(await handler(await readCall(http, context, maxBody))))
  }
  return app
}

/** Parses a request and makes the checks shared by all routes. */
async function readCall(
  { req, env: { incoming } }: HttpContext,
  context: Context,
  maxBody: number,
): Promise<Parameters<Handler>[0]> {
  const digest = createHash('sha256').update(`${req.path}\n`)
  const read = req.method === 'POST' ? await readFields(incoming, req.path, maxBody, digest) : { body: {} }
  return {
    context,
    body: read.body,
    digest: digest.digest('base64'),
    params: req.param(),
    query: new URL(req.url).searchParams,
    protobuf: (incoming.headers.accept ?? '').toLowerCase().includes(protobufType),
    forwardOnly: read.forwardOnly ?? false,
  }
}

/** Lists of numbers may be as long as a body; of everything else no honest request has as much. */
const jsonLimits = { parts: 2 ** 18, commas: Infinity }

/** The fields of a body, JSON or protobuf, of which `digest` takes all bytes. */
async function readFields(
  incoming: IncomingMessage,
  path: string,
  most: number,
  digest: Hash,
): Promise<{ body: Fields; forwardOnly?: boolean }> {
  const type = incoming.headers['content-type']?.split(';')[0].trim().toLowerCase()
  checkEncoding(incoming)
  const hint = 'Send fewer sequences at once.'
  const tooLarge = (): Error =>
    refuse('tinker-body-too-large', `The body has more than ${most} bytes`, { hint })
  if (type === protobufType && path === `${apiPath}/forward_backward`) {
    const parts: Buffer[] = []
    const take = (part: Buffer): void => {
      digest.update(part)
      parts.push(part)
    }
    await readBody(incoming, most, take, tooLarge)
    // Protobuf is loaded for the first client that uses it.
    const { readForwardBackwardRequest } = await import('./protobuf/messages.ts')
    const bytes = received(new Uint8Array(Buffer.concat(parts)))
    return redacted(checked(bytes, readForwardBackwardRequest), noSecrets)
  }
  // A browser sends this type to another origin only after a preflight request, which is refused.
  if (type !== 'application/json')
    throw refuse('tinker-media-type', 'The type of the body is wrong', {
      given: type,
      expected: 'application/json',
    })
  const reader = createJsonReader(jsonLimits, (problem, expected) => {
    throw refuse('tinker-bad-request', `The body ${problem}`, { expected })
  })
  const take = (part: Buffer): void => {
    digest.update(part)
    reader.push(part)
  }
  await readBody(incoming, most, take, tooLarge)
  const json = reader.end()
  await yieldToEventLoop()
  return {
    body: redacted(
      checked(json, (body) => fieldsOf(body, 'body')),
      noSecrets,
    ),
  }
}

function checkEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return
  throw refuse('tinker-media-type', 'Compressed bodies are not understood', {
    given: encoding,
    expected: 'no content-encoding, as this server says in client/config',
  })
}

function toResponse({ status = 200, json, bytes, headers = {} }: Reply): Response {
  if (bytes !== undefined) return new Response(bytes, { status, headers })
  if (json === undefined) return new Response(null, { status, headers })
  return new Response(JSON.stringify(json, asList), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** Typed arrays as lists; JSON would make them objects. */
function asList(_name: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as Float32Array) : value
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
