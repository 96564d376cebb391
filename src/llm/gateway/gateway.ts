import type { IncomingMessage, ServerResponse } from 'node:http'
import { AgogeError } from '../../error.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { checked, noSecrets, redacted } from '../../untrusted/untrusted.ts'
import { readConversation } from '../agent/ai-sdk/read-call.ts'
import { saysTooLong } from '../agent/call-failures.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { Episode } from '../episode/types.ts'
import { isOverflow } from '../rollout/agents/rollout-agent.ts'
import { checkExposure, dropBody, type HttpApp, type HttpContext } from '../serving/http.ts'
import { createJsonReader } from '../serving/json-body.ts'
import { objectOf, openApp, readRequest } from '../serving/openai/app.ts'
import { type Json, RequestError, shownValue } from '../serving/openai/protocol.ts'
import { inSharedTurn, ownTurn } from '../serving/turns.ts'
import { type Answer, contentOf } from './answer.ts'
import { answerCall, createAnswerMemory, errorResponseFor, protocolOf } from './answer-call.ts'
import { toRequestError } from './errors.ts'
import type { GatewayModel } from './local-model.ts'
import { checkGatewayAccess, checkName, placeOf, type RequestPlace, withoutSessionKey } from './places.ts'
import { messageOf, type Protocol, type ProtocolCall } from './protocol.ts'
import { readWire } from './read-wire.ts'
import { readContent, type RecordedCalls, recordCalls } from './record-calls.ts'
import { recordTokens } from './record-tokens.ts'
import {
  type CallEnds,
  type Conversation,
  createSessions,
  type Recording,
  type Session,
  type SessionEnd,
} from './sessions.ts'
import { createUpstream, type Forwarded, textOfBody, type Upstream } from './upstream.ts'

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

/** Of conversations with many long tool results. */
const limits = { parts: 2 ** 18, names: 2 ** 17, commas: 2 ** 19 }

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
  const upstream = options.upstream === undefined ? undefined : createUpstream(options.upstream)
  const memory = createAnswerMemory(1024)
  const sessions = createSessions({
    ...(idleSeconds !== undefined && { idleSeconds }),
    secrets: [...(options.secrets ?? []), ...(key === undefined ? [] : [key])],
    async onEnd(episode, end) {
      const scored = await score(episode, end).catch((error: unknown) => masked(episode, error))
      onEpisode(scored)
      return scored
    },
  })

  /** Calls whose answer the client has. */
  const recording = new Set<Promise<void>>()

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

  /** A call of the service behind. It is sent on before it is read, and its answer is recorded once the client has it. */
  async function passOn(
    service: Upstream,
    protocol: Protocol,
    place: RequestPlace,
    given: Buffer,
    { incoming, outgoing }: HttpContext['env'],
  ): Promise<void> {
    withoutSessionKey(incoming, place.key)
    const asksIds = options.tokenIds === true && protocol.path === 'chat/completions'
    const asked = asksIds ? withTokenIds(given) : given
    let session: Session | undefined
    const forwarding = service.forward({
      incoming,
      outgoing,
      path: place.path,
      body: asked,
      headers: () => (session === undefined ? {} : { 'x-agoge-session': session.name }),
      mostBytes,
    })
    const read = await readToRecord(protocol, given, memory.find)
    const isReadable = !(read instanceof Error)
    // The call before this one may not be recorded yet.
    await Promise.all(recording)
    if (isReadable || place.name !== undefined)
      session = sessions.of(place, isReadable ? read.conversation : { messages: [], tools: [] })
    if (place.key !== undefined) session?.hide(place.key)
    if (!isReadable) {
      const problem = `a request could not be recorded: ${read.message}`
      session?.spoil(problem)
      onNotice(problem)
    }
    const ends = isReadable ? session?.begin(read.conversation) : undefined
    let forwarded: Forwarded
    try {
      forwarded = await forwarding
    } catch (error) {
      if (outgoing.destroyed) ends?.left()
      else ends?.failed(error)
      throw error
    }
    if (!isReadable || session === undefined || ends === undefined) return
    const call = { ...read, session, ends }
    // Streams that end together would hold up the chunks of others.
    const recorded = ownTurn().then(() => record(protocol, forwarded, call))
    recording.add(recorded)
    await recorded
    recording.delete(recorded)
  }

  function record(
    protocol: Protocol,
    { status, contentType, body, encoding, ending }: Forwarded,
    { call, conversation, session, ends }: Readable & { session: Session; ends: CallEnds },
  ): void {
    if (ending === 'left') return ends.left()
    if (body === undefined) return ends.failed(new Error(`the answer is longer than ${mostBytes} bytes`))
    try {
      const text = textOfBody(body, encoding, mostBytes)
      if (status >= 400) {
        if (saysTooLong(status, text)) return ends.overflowed()
        return ends.failed(new Error(`HTTP ${status}: ${text.slice(0, 300)}`))
      }
      const { answers, id } = readWire(protocol, contentType, text)
      const messages: ConversationMessage[] = []
      for (const { answer, tokens } of answers) {
        const said = saidIn(answer, conversation)
        const name = call.model ?? 'model'
        if (tokens === undefined) {
          const { onCall } = session.recordingOf(name, () => recordedTexts(session))
          onCall(call.options, { content: contentOf(answer), tokens: answer.usage })
        } else {
          const { temperature = 1, topP, topK } = call.options
          const sampling = {
            temperature,
            ...(topP !== undefined && { topP }),
            ...(topK !== undefined && { topK }),
          }
          const restored = { ...conversation, messages: session.restored(conversation) }
          const tools = said.problems[0]
          session
            .recordingOf(`${name} with tokens`, recordTokens)
            .onCall(restored, { message: said.message, invalid: tools }, tokens, sampling)
        }
        messages.push(said.message)
      }
      ends.answered(messages)
      if (id !== undefined && call.kept !== undefined)
        memory.keep(id, [...call.kept, ...answers.map(({ answer }) => messageOf(answer))])
    } catch (error) {
      ends.failed(error)
    }
  }

  async function answerPost({ env, get, req }: HttpContext): Promise<Response> {
    const place = placeOf(env.incoming)
    const protocol = protocolOf(pathOf(place.path))
    if (protocol === undefined) return forwardOther(env, place, req.method)
    const parts: Buffer[] = []
    const body = await readRequest(env.incoming, mostBytes, { limits, take: (part) => void parts.push(part) })
    const model = modelOf(models, body['model'], upstream !== undefined)
    if (model !== undefined) return answerHere(model, protocol, body, place, get('signal'))
    if (upstream === undefined) throw unknownModel(models, body['model'])
    await passOn(upstream, protocol, place, Buffer.concat(parts), env)
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
  async function passThrough(service: Upstream, env: HttpContext['env']): Promise<void> {
    const { incoming, outgoing } = env
    try {
      checkGatewayAccess(incoming, key, true)
      const place = placeOf(incoming)
      const protocol = incoming.method === 'POST' ? protocolOf(pathOf(place.path)) : undefined
      if (protocol === undefined) await forwardOther(env, place)
      else await passOn(service, protocol, place, await wholeBody(incoming, mostBytes), env)
    } catch (error) {
      if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
      const isOver = await dropBody(incoming)
      const path = pathOf(incoming.url ?? '/')
      const { signal } = new AbortController()
      const told = errorResponseFor(error, { signal, path, headers: isOver ? {} : { connection: 'close' } })
      outgoing.writeHead(told.status, Object.fromEntries(told.headers))
      outgoing.end(await told.text())
    }
  }

  function first(incoming: HttpContext['env']['incoming'], outgoing: ServerResponse): boolean {
    if (upstream === undefined || models.length > 0 || incoming.url?.startsWith('/agoge/') === true)
      return false
    void passThrough(upstream, { incoming, outgoing })
    return true
  }

  function routes(app: HttpApp): void {
    app.get('/agoge/sessions', ({ json }) => json({ sessions: sessions.list() }))
    app.post('/agoge/sessions/:name/reward', async ({ req, env, json }) => {
      const session = sessions.find(nameOf(req.param('name')))
      const reward = readReward(await readRequest(env.incoming, 2 ** 16))
      if (session === undefined) throw unknownSession()
      session.reward(reward)
      return json({ ok: true })
    })
    app.post('/agoge/sessions/:name/end', async ({ req, env, json }) => {
      const name = nameOf(req.param('name'))
      const { task, output } = await readRequest(env.incoming, mostBytes)
      const episode = await sessions.end(name, {
        ...(typeof task === 'string' && { task }),
        ...(output !== undefined && { output }),
      })
      if (episode === undefined) throw unknownSession()
      const { id, status, success, rewards, error = null } = episode
      return json({ id, status, success, rewards, error })
    })
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

interface Readable {
  call: ProtocolCall
  conversation: Conversation
}

function recordedTexts(session: Session): { record: Recording; onCall: RecordedCalls['onCall'] } {
  const { nodes, samples, usage, onCall } = recordCalls(session.restored)
  return { record: { nodes, samples, usage }, onCall }
}

function saidIn(answer: Answer, { tools }: Conversation): ReturnType<typeof readContent> {
  return readContent(contentOf(answer), tools)
}

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

const nameOf = (given: string): string => {
  checkName(given)
  return given
}

const unknownSession = (): RequestError =>
  new RequestError(404, 'unknown_session', 'There is no open session of this name.')

function readReward({ name, value, reason }: Json): { name: string; value: number | null; reason?: string } {
  if (typeof name !== 'string' || name === '' || name.length > 200)
    throw new RequestError(400, 'invalid_value', 'name: expected a name of at most 200 characters', 'name')
  if (value !== null && (typeof value !== 'number' || !Number.isFinite(value)))
    throw new RequestError(
      400,
      'invalid_value',
      'value: expected a number, or null if it cannot be judged',
      'value',
    )
  if (reason !== undefined && typeof reason !== 'string')
    throw new RequestError(400, 'invalid_value', 'reason: expected a text', 'reason')
  return { name, value, ...(reason !== undefined && { reason }) }
}

/** The request as it is recorded. One that cannot be read is passed on all the same. */
async function readToRecord(
  protocol: Protocol,
  given: Buffer,
  earlier: Parameters<Protocol['read']>[1],
): Promise<Readable | Error> {
  try {
    const call = protocol.read(await parseBody(given), earlier, true)
    return { call, conversation: readConversation(call.options) }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The JSON of a request whose bytes have come. Long ones take turns with the work of others. */
async function parseBody(given: Buffer): Promise<Json> {
  if (given.length <= 2 ** 16) return objectOf(parseForeignJson(given.toString()))
  const reader = createJsonReader(limits, (problem, expected) => {
    throw new RequestError(400, 'invalid_json', `The request ${problem}: expected ${expected}.`)
  })
  for (let at = 0; at < given.length; at += 2 ** 16)
    await inSharedTurn(() => reader.push(given.subarray(at, at + 2 ** 16)))
  return redacted(checked(await reader.end(), objectOf), noSecrets)
}

/** The whole body of a request. */
async function wholeBody(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > mostBytes)
      throw new RequestError(413, 'request_too_large', `The request is longer than ${mostBytes} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Asks for the ids of tokens. A body that is no JSON is left to the service. */
function withTokenIds(given: Buffer): Buffer {
  try {
    const body = objectOf(parseForeignJson(given.toString()))
    return Buffer.from(JSON.stringify({ ...body, return_token_ids: true, logprobs: true }))
  } catch {
    return given
  }
}

const pathOf = (url: string): string => url.split('?')[0]

function masked(episode: Episode, error: unknown): Episode {
  const text = error instanceof Error ? error.message : String(error)
  return { ...episode, status: 'masked', success: null, error: `it could not be scored: ${text}` }
}
