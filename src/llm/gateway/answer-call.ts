import { randomUUID } from 'node:crypto'
import { AgogeError } from '../../error.ts'
import type { LanguageModel, PromptMessage } from '../agent/ai-sdk/read-call.ts'
import { RequestError } from '../serving/openai/protocol.ts'
import { addPart, type Answer, createPartReader, readAnswer } from './answer.ts'
import { chatCompletions } from './chat-completions.ts'
import { toRequestError } from './errors.ts'
import { messages } from './messages.ts'
import {
  type AnswerHead,
  forVersion,
  messageOf,
  type Protocol,
  type ProtocolCall,
  type WireEvent,
} from './protocol.ts'
import { responses } from './responses.ts'

/** All protocols that an agent may speak. */
export const protocols: readonly Protocol[] = [chatCompletions, responses, messages]

/** The protocol of a path, such as `/v1/messages`. */
export function protocolOf(path: string): Protocol | undefined {
  return protocols.find(({ path: end }) => path.endsWith(`/${end}`))
}

/** Conversations that later requests may refer to by the id of an answer. The oldest are forgotten. */
export interface AnswerMemory {
  find: (id: string) => readonly PromptMessage[]
  keep: (id: string, conversation: readonly PromptMessage[]) => void
}

export function createAnswerMemory(most = 256): AnswerMemory {
  const kept = new Map<string, readonly PromptMessage[]>()
  return {
    find(id) {
      const found = kept.get(id)
      if (found !== undefined) return found
      const problem = `There is no answer ${id.slice(0, 80)}, or it is forgotten: send the whole conversation.`
      throw new RequestError(404, 'previous_response_not_found', problem, 'previous_response_id')
    },
    keep(id, conversation) {
      kept.set(id, conversation)
      const [oldest] = kept.keys()
      if (kept.size > most) kept.delete(oldest)
    },
  }
}

export interface AnswerOptions {
  protocol: Protocol
  call: ProtocolCall
  model: LanguageModel
  /** The name of the model, as the client reads it. */
  name: string
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  memory: AnswerMemory
  /** Called with each whole answer, before the client has it. */
  onAnswer?: (answer: Answer) => void
  /** Turns an error of the model into the one that the client gets. */
  errorOf?: (error: unknown) => RequestError
}

/**
 * Answers a call with a model object. A streamed answer opens with its first part, so that an earlier error still has its status.
 *
 * @throws RequestError for an error of the model.
 */
export async function answerCall(options: AnswerOptions): Promise<Response> {
  const { protocol, call, model, name, signal, memory, onAnswer, errorOf = toRequestError } = options
  const head: AnswerHead = {
    id: `${protocol.idPrefix}${randomUUID().replaceAll('-', '')}`,
    model: name,
    created: Math.floor(Date.now() / 1000),
  }
  const asked = forVersion({ ...call.options, abortSignal: signal }, model.specificationVersion)
  const keep = (answer: Answer): void => {
    onAnswer?.(answer)
    if (call.kept !== undefined) memory.keep(head.id, [...call.kept, messageOf(answer)])
  }
  if (!call.stream) {
    const answer = readAnswer(await model.doGenerate(asked).catch((error: unknown) => fail(error)))
    keep(answer)
    return Response.json(protocol.write(answer, head, call))
  }
  const reader = await model
    .doStream(asked)
    .then(({ stream }) => stream.getReader() as ReadableStreamDefaultReader<unknown>)
    .catch((error: unknown) => fail(error))
  // Also where the answer is not read to its end, or not at all.
  signal.addEventListener('abort', () => void reader.cancel(signal.reason).catch(() => {}), { once: true })
  const readPart = createPartReader()
  const next = async (): Promise<ReturnType<typeof readPart> | undefined> => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      const parts = readPart(value)
      if (parts.length > 0) return parts
    }
  }
  const first = await next().catch((error: unknown) => fail(error))

  function fail(error: unknown): never {
    throw errorOf(error)
  }

  async function* events(): AsyncGenerator<Uint8Array> {
    const writer = protocol.writer(head, call)
    const answer: Answer = { blocks: [], finish: 'stop', usage: { input: 0, output: 0 } }
    try {
      yield encode(writer.start())
      for (let parts = first; parts !== undefined; parts = await next()) {
        for (const part of parts) addPart(answer, part)
        yield encode(parts.flatMap((part) => writer.part(part)))
      }
      keep(answer)
      yield encode(writer.end())
    } catch (error) {
      yield encode([protocol.errorEvent(errorOf(error))])
    } finally {
      // The client may have left.
      await reader.cancel().catch(() => {})
    }
  }
  return new Response(ReadableStream.from(events()), {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
  })
}

const encoder = new TextEncoder()

function encode(events: readonly WireEvent[]): Uint8Array {
  const texts = events.map(({ name, data }) => {
    const line = `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
    return name === undefined ? line : `event: ${name}\n${line}`
  })
  return encoder.encode(texts.join(''))
}

/** The response to a failed request, in the shape of the protocol of its path. */
export function errorResponseFor(
  given: unknown,
  { signal, path, headers }: { signal: AbortSignal; path: string; headers: Record<string, string> },
): Response {
  const error = toRequestError(signal.aborted && AgogeError.isInstance(given) ? signal.reason : given, signal)
  const protocol = protocolOf(path) ?? chatCompletions
  return Response.json(protocol.error(error), {
    status: error.status,
    headers: { ...(error.status === 429 && { 'retry-after': '1' }), ...headers },
  })
}
