import type { IncomingMessage } from 'node:http'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { checked, noSecrets, redacted } from '../../untrusted/untrusted.ts'
import { readConversation } from '../agent/ai-sdk/read-call.ts'
import { saysTooLong } from '../agent/call-failures.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { HttpContext } from '../serving/http.ts'
import { createJsonReader } from '../serving/json-body.ts'
import { checkJsonType, objectOf } from '../serving/openai/app.ts'
import { type Json, RequestError } from '../serving/openai/protocol.ts'
import { inSharedTurn, ownTurn } from '../serving/turns.ts'
import { type Answer, contentOf } from './answer.ts'
import type { AnswerMemory } from './answer-call.ts'
import { type RequestPlace, withoutSessionKey } from './places.ts'
import { messageOf, type Protocol, type ProtocolCall } from './protocol.ts'
import { readWire } from './read-wire.ts'
import { readContent, type RecordedCalls, recordCalls } from './record-calls.ts'
import { recordTokens } from './record-tokens.ts'
import type { CallEnds, Conversation, Recording, Session, Sessions } from './sessions.ts'
import { type Forwarded, textOfBody, type Upstream } from './upstream.ts'

export interface PassOnOptions {
  service: Upstream
  sessions: Sessions
  memory: AnswerMemory
  /** Asks the service for token ids. */
  tokenIds: boolean
  mostBytes: number
  onNotice: (text: string) => void
}

/** Sends a call on to a service, before it is read. Its answer is recorded once the client has it. */
export type PassOn = (
  protocol: Protocol,
  place: RequestPlace,
  given: Buffer,
  env: HttpContext['env'],
) => Promise<void>

/** Makes the function that sends calls on. It throws `RequestError` if the service cannot be reached. */
export function createPassOn({
  service,
  sessions,
  memory,
  tokenIds,
  mostBytes,
  onNotice,
}: PassOnOptions): PassOn {
  /** Calls whose answer the client has. */
  const recording = new Set<Promise<void>>()

  async function passOn(
    protocol: Protocol,
    place: RequestPlace,
    given: Buffer,
    { incoming, outgoing }: HttpContext['env'],
  ): Promise<void> {
    withoutSessionKey(incoming, place.key)
    const asksIds = tokenIds && protocol.path === 'chat/completions'
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
    // It is awaited below; until then an error must not end the process.
    forwarding.catch(() => {})
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

  return passOn
}

interface Readable {
  call: ProtocolCall
  conversation: Conversation
}

function recordedTexts(session: Session): { record: Recording; onCall: RecordedCalls['onCall'] } {
  const { nodes, samples, usage, onCall } = recordCalls(session.restored)
  return { record: { nodes, samples, usage }, onCall }
}

/** The message of an answer, with what is wrong with its calls. */
export function saidIn(answer: Answer, { tools }: Conversation): ReturnType<typeof readContent> {
  return readContent(contentOf(answer), tools)
}

/** Most parts of a request: of conversations with many long tool results. */
export const requestLimits = { parts: 2 ** 18, names: 2 ** 17, commas: 2 ** 19 }

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
  const reader = createJsonReader(requestLimits, (problem, expected) => {
    throw new RequestError(400, 'invalid_json', `The request ${problem}: expected ${expected}.`)
  })
  for (let at = 0; at < given.length; at += 2 ** 16)
    await inSharedTurn(() => reader.push(given.subarray(at, at + 2 ** 16)))
  return redacted(checked(await reader.end(), objectOf), noSecrets)
}

/** The whole body of a request that is JSON by its type. Throws `RequestError` for another. */
export async function wholeBody(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  checkJsonType(incoming)
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
