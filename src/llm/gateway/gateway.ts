import type { ServerResponse } from 'node:http'
import { AgogeError } from '../../error.ts'
import { readConversation } from '../agent/ai-sdk/read-call.ts'
import type { Episode } from '../episode/types.ts'
import { isOverflow } from '../rollout/agents/rollout-agent.ts'
import { checkExposure, dropBody, type HttpApp, type HttpContext } from '../serving/http.ts'
import { openApp, readRequest } from '../serving/openai/app.ts'
import { type Json, RequestError, shownValue } from '../serving/openai/protocol.ts'
import { answerCall, createAnswerMemory, errorResponseFor, protocolOf } from './answer-call.ts'
import { toRequestError } from './errors.ts'
import type { GatewayModel } from './local-model.ts'
import { createPassOn, type PassOn, requestLimits, saidIn, wholeBody } from './pass-on.ts'
import { checkGatewayAccess, placeOf, type RequestPlace, withoutSessionKey } from './places.ts'
import type { Protocol } from './protocol.ts'
import { addSessionRoutes } from './session-routes.ts'
import { type CallEnds, createSessions, type SessionEnd } from './sessions.ts'
import { createUpstream } from './upstream.ts'

/** What stands behind a gateway, and what becomes of its episodes. */
export interface GatewayOptions {
  /** Models that are asked by their names. A single one is asked by any name, unless there is an upstream. */
  models?: readonly GatewayModel[]
  /** Address of a service that gets all other requests as they are, such as `https://api.openai.com/v1`. */
  upstream?: string
  /** Asks the upstream for the ids and log-probabilities of its tokens, as vLLM, SGLang and Agoge give them. Default: false. */
  tokenIds?: boolean
  /** Default: 127.0.0.1. Other hosts need a key. */
  host?: string
  /** Default: a free port. */
  port?: number
  /** That clients must send. */
  key?: string
  /** A session without calls for so many seconds ends. Default: 600. */
  idleSeconds?: number
  /** Most bytes of a request, and of an answer that is recorded. Default: 32 MiB. */
  mostBytes?: number
  /** What is never stored, besides the keys of clients. */
  secrets?: readonly string[]
  /** Scores an episode whose session ended. Default: its rewards are those that were sent. */
  score?: (episode: Episode, end: SessionEnd) => Promise<Episode>
  /** Called with each finished episode. */
  onEpisode: (episode: Episode) => void
  /** Called with what could not be recorded or scored. */
  onNotice?: (text: string) => void
}

export interface Gateway {
  /** Without a path: the base URL of Anthropic's client. Those of OpenAI's end with `/v1`. */
  url: string
  /** Waits up to `graceSeconds` (default: 5) for running calls, then ends all sessions. */
  close: (graceSeconds?: number) => Promise<void>
}

/**
 * A proxy that speaks Chat Completions, Responses and Anthropic's Messages, and records what goes through it. Each session of an agent
 * becomes one episode.
 *
 * @throws AgogeError `needs-key` if other machines can reach the host without a key, `port-taken` if the port is in use.
 * @example
 * const { url, close } = await openGateway({ upstream: 'https://api.openai.com/v1', onEpisode: console.log })
 */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { models = [], host = '127.0.0.1', port = 0, key, onEpisode, onNotice = () => {} } = options
  const { mostBytes = 32 * 2 ** 20, score = (episode) => Promise.resolve(episode), idleSeconds } = options
  checkExposure(
    host,
    key,
    'needs-key',
    'Set one in the environment variable AGOGE_SERVE_KEY, or leave out --host.',
  )
  const memory = createAnswerMemory(1024)
  const sessions = createSessions({
    ...(idleSeconds !== undefined && { idleSeconds }),
    secrets: [...(options.secrets ?? []), ...(key === undefined ? [] : [key])],
    async onEnd(episode, end) {
      const scored = await score(episode, end).catch((error: unknown) => masked(episode, error))
      try {
        onEpisode(scored)
      } catch (error) {
        onNotice(`the episode ${scored.id} could not be kept: ${String(error)}`)
        throw error
      }
      return scored
    },
  })

  const upstream = options.upstream === undefined ? undefined : createUpstream(options.upstream)
  const { tokenIds = false } = options
  const passOn =
    upstream && createPassOn({ service: upstream, sessions, memory, tokenIds, mostBytes, onNotice })

  /** A call of a model of the gateway. */
  async function answerHere(
    { name, open }: GatewayModel,
    protocol: Protocol,
    body: Json,
    place: RequestPlace,
    signal: AbortSignal,
  ): Promise<Response> {
    const call = protocol.read(body, memory.find)
    const conversation = readConversation(call.options)
    const session = sessions.of(place, conversation)
    const ends = session.begin(conversation)
    signal.addEventListener('abort', ends.left, { once: true })
    const response = await answerCall({
      protocol,
      call,
      model: session.recordingOf(name, () => open(session)).model,
      name,
      signal,
      memory,
      onAnswer: (answer) => ends.answered([saidIn(answer, conversation).message]),
      errorOf(error) {
        reportError(error, ends)
        return toRequestError(error, signal)
      },
    })
    response.headers.set('x-agoge-session', session.name)
    return response
  }

  async function answerPost({ env, get, req }: HttpContext): Promise<Response> {
    const place = placeOf(env.incoming)
    const protocol = protocolOf(pathOf(place.path))
    if (protocol === undefined) return forwardOther(env, place, req.method)
    const parts: Buffer[] = []
    const body = await readRequest(env.incoming, mostBytes, {
      limits: requestLimits,
      take: (part) => void parts.push(part),
    })
    const model = modelOf(models, body['model'], upstream !== undefined)
    if (model !== undefined) return answerHere(model, protocol, body, place, get('signal'))
    if (passOn === undefined) throw unknownModel(models, body['model'])
    await passOn(protocol, place, Buffer.concat(parts), env)
    return alreadySent()
  }

  /** Models, embeddings, files: not of an episode. */
  async function forwardOther(
    { incoming, outgoing }: HttpContext['env'],
    place: RequestPlace,
    method = incoming.method,
  ): Promise<Response> {
    if (upstream === undefined)
      throw new RequestError(404, 'unknown_url', `There is no ${method} ${pathOf(place.path)}.`)
    withoutSessionKey(incoming, place.key)
    await upstream.forward({ incoming, outgoing, path: place.path, headers: () => ({}), mostBytes: 0 })
    return alreadySent()
  }

  /** In front of a service alone nothing depends on what a request says. */
  async function passThrough(send: PassOn, env: HttpContext['env']): Promise<void> {
    const { incoming, outgoing } = env
    try {
      checkGatewayAccess(incoming, key, true)
      const place = placeOf(incoming)
      const protocol = incoming.method === 'POST' ? protocolOf(pathOf(place.path)) : undefined
      if (protocol === undefined) await forwardOther(env, place)
      else await send(protocol, place, await wholeBody(incoming, mostBytes), env)
    } catch (error) {
      if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
      const isOver = await dropBody(incoming)
      const path = pathOf(incoming.url ?? '/')
      const { signal } = new AbortController()
      const refusal = errorResponseFor(error, {
        signal,
        path,
        headers: isOver ? {} : { connection: 'close' },
      })
      outgoing.writeHead(refusal.status, Object.fromEntries(refusal.headers))
      outgoing.end(await refusal.text())
    }
  }

  function first(incoming: HttpContext['env']['incoming'], outgoing: ServerResponse): boolean {
    if (passOn === undefined || models.length > 0 || incoming.url?.startsWith('/agoge/') === true)
      return false
    void passThrough(passOn, { incoming, outgoing })
    return true
  }

  function routes(app: HttpApp): void {
    addSessionRoutes(app, sessions, mostBytes)
    app.get('/v1/models', async ({ json, env }) =>
      upstream === undefined
        ? json({ object: 'list', data: models.map(describeModel) })
        : forwardOther(env, placeOf(env.incoming)),
    )
    app.post('*', (context) => answerPost(context))
    app.all('*', ({ env }) => forwardOther(env, placeOf(env.incoming)))
  }

  const { url, close } = await openApp({
    host,
    port,
    routes,
    first,
    check: (incoming) => checkGatewayAccess(incoming, key, upstream !== undefined),
    errorOf: errorResponseFor,
  })
  return {
    url,
    async close(graceSeconds) {
      await close(graceSeconds)
      upstream?.close()
      await sessions.close()
    },
  }
}

const alreadySent = (): Response => new Response(null, { headers: { 'x-hono-already-sent': 'true' } })

/** What the error of a model says of the call. */
function reportError(error: unknown, ends: CallEnds): void {
  if (isOverflow(error)) return ends.overflowed()
  // A request that this model cannot answer is a mistake of the agent's program.
  const isOwn = AgogeError.isInstance(error) || error instanceof RequestError
  if (isOwn && toRequestError(error).status === 400) ends.left()
  else ends.failed(error)
}

function modelOf(
  models: readonly GatewayModel[],
  given: unknown,
  hasUpstream: boolean,
): GatewayModel | undefined {
  const named = models.find(({ name }) => name === given)
  return named ?? (models.length === 1 && !hasUpstream ? models[0] : undefined)
}

function unknownModel(models: readonly GatewayModel[], given: unknown): RequestError {
  const names = models.map(({ name }) => JSON.stringify(name)).join(', ')
  const problem = `The model ${shownValue(given)} does not exist; this gateway has ${names}.`
  return new RequestError(404, 'model_not_found', problem, 'model')
}

const describeModel = ({ name }: GatewayModel): Json => ({
  id: name,
  object: 'model',
  created: 0,
  owned_by: 'agoge',
})

function masked(episode: Episode, error: unknown): Episode {
  const text = error instanceof Error ? error.message : String(error)
  return { ...episode, status: 'masked', success: null, error: `it could not be scored: ${text}` }
}

const pathOf = (url: string): string => url.split('?')[0]
