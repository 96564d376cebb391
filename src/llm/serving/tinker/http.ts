import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AgogeError } from '../../../error.ts'
import { apiPath } from '../../backend/tinker/index.ts'
import {
  bearerOf,
  calledHost,
  createHttpApp,
  type HttpApp,
  type HttpContext,
  isLocalHost,
  isSameKey,
  parseJsonBody,
  readBytes,
} from '../http.ts'
import * as checkpoints from './checkpoints.ts'
import type { Context, Handler, Reply } from './context.ts'
import { errorResponse, fieldsOf, refuse } from './fields.ts'
import { retrieveFuture } from './futures.ts'
import { sample } from './sampling.ts'
import * as sessions from './session-handlers.ts'
import * as training from './training.ts'

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
export async function createProtocolApp(
  context: Context,
  { apiKey, maxBody, onFault }: ProtocolOptions,
): Promise<HttpApp> {
  const app = await createHttpApp()
  app.onError((error, { env: { incoming } }) => {
    if (!AgogeError.isInstance(error)) onFault(error)
    // The unread part of a refused body must not be read as the next request.
    return errorResponse(error, incoming.complete ? {} : { connection: 'close' })
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
  const hasBody = req.method === 'POST'
  const bytes = hasBody ? await readBody(incoming, maxBody) : new Uint8Array(0)
  const type = incoming.headers['content-type']?.split(';')[0].trim().toLowerCase()
  const decoded =
    type === protobufType && req.path === `${apiPath}/forward_backward`
      ? await readProtobuf(bytes)
      : undefined
  // A browser sends this type to another origin only after a preflight request, which is refused.
  if (hasBody && decoded === undefined && type !== 'application/json')
    throw refuse('tinker-media-type', 'The type of the body is wrong', {
      given: type,
      expected: 'application/json',
    })
  const json = hasBody && decoded === undefined ? parseJson(bytes) : {}
  return {
    context,
    body: decoded?.body ?? fieldsOf(json, 'body'),
    digest: createHash('sha256').update(`${req.path}\n`).update(bytes).digest('base64'),
    params: req.param(),
    query: new URL(req.url).searchParams,
    protobuf: (incoming.headers.accept ?? '').toLowerCase().includes(protobufType),
    forwardOnly: decoded?.forwardOnly ?? false,
  }
}

/** Protobuf is loaded for the first client that uses it. */
async function readProtobuf(bytes: Uint8Array) {
  const { readForwardBackwardRequest } = await import('./protobuf/messages.ts')
  return readForwardBackwardRequest(bytes)
}

async function readBody(incoming: IncomingMessage, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = incoming.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw refuse('tinker-media-type', 'Compressed bodies are not understood', {
      given: encoding,
      expected: 'no content-encoding, as this server says in client/config',
    })
  }
  const hint = 'Send fewer sequences at once.'
  return readBytes(incoming, most, () =>
    refuse('tinker-body-too-large', `The body has more than ${most} bytes`, { hint }),
  )
}

function parseJson(body: Uint8Array): unknown {
  return parseJsonBody(body, (problem, expected) => {
    throw refuse('tinker-bad-request', `The body ${problem}`, { expected })
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
    // Told below.
  }
  throw refuse('tinker-bad-request', 'The address cannot be read', {
    given: path,
    expected: 'UTF-8, with each % followed by two hexadecimal digits, and no empty part',
  })
}
