import type { CallOptions, PromptMessage, PromptPart } from '../agent/ai-sdk/read-call.ts'
import type { Answer, AnswerPart } from './answer.ts'
import { readWritten } from '../serving/openai/chat-messages.ts'
import type { Json, RequestError } from '../serving/openai/protocol.ts'
import { badField, isRecord, numberField } from '../serving/openai/protocol.ts'

/** A request of one of the protocols, in terms of model objects. */
export interface ProtocolCall {
  /** The name of the model that the client wrote. */
  model: string | undefined
  options: CallOptions
  stream: boolean
  /** The part of the prompt that later requests may refer to. Default: nothing can be referred to. */
  kept?: readonly PromptMessage[]
  /** Fields of the request that its answer repeats, and settings of its stream. */
  echo: Json
}

/** What every answer says of itself. */
export interface AnswerHead {
  id: string
  /** The name of the model that answered. */
  model: string
  /** Seconds since 1970. */
  created: number
}

/** An event of a stream. Without a body: the text as it is. */
export interface WireEvent {
  name?: string
  data: unknown
}

/** Writes the events of one stream. */
export interface EventWriter {
  start: () => WireEvent[]
  part: (part: AnswerPart) => WireEvent[]
  /** After the last part. */
  end: () => WireEvent[]
}

/** A translation of one protocol to model objects and back. */
export interface Protocol {
  /** The last part of its path. */
  path: string
  idPrefix: string
  /**
   * Reads the body of a request. Throws `RequestError` naming the field.
   *
   * @param earlier the conversation behind an answer that the request refers to.
   * @param isLenient leaves out what has no place in a prompt, such as tools of the service itself, since the request is only recorded.
   */
  read: (body: Json, earlier: (id: string) => readonly PromptMessage[], isLenient?: boolean) => ProtocolCall
  /** The body of a whole answer. */
  write: (answer: Answer, head: AnswerHead, call: ProtocolCall) => Json
  writer: (head: AnswerHead, call: ProtocolCall) => EventWriter
  /** The body of an error. */
  error: (error: RequestError) => Json
  /** The last event of a stream that failed. */
  errorEvent: (error: RequestError) => WireEvent
}

/** Numbers that all protocols call alike. */
export function readNumbers(body: Json): Pick<CallOptions, 'temperature' | 'topP'> {
  const temperature = numberField(body, 'temperature', { least: 0, most: 100 })
  const topP = numberField(body, 'top_p', { least: 0, most: 1 })
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  }
}

/** The message that an answer becomes in the conversation. */
export function messageOf({ blocks }: Answer): PromptMessage {
  return {
    role: 'assistant',
    content: blocks.map((block): PromptPart => {
      if (block.type !== 'call') return { type: block.type, text: block.text }
      const input = readWritten(block.arguments, 'arguments', false)
      return { type: 'tool-call', toolCallId: block.id, toolName: block.name, input }
    }),
  }
}

/** A file of a prompt by its address, which may hold the file itself (`data:`). */
export function fileFromUrl(url: unknown, mediaType: string, at: string): PromptPart {
  if (typeof url !== 'string') throw badField(at, url, 'an address')
  const held = /^data:([\w.+/-]+);base64,/.exec(url)
  if (held !== null) return { type: 'file', mediaType: held[1], data: url.slice(held[0].length) }
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw badField(at, url, 'an address that begins with https: or data:')
  return { type: 'file', mediaType, data: new URL(url) }
}

/** Version 4 of the specification says of each file how it is held. */
export function forVersion(options: CallOptions, version: string): CallOptions {
  if (version !== 'v4') return options
  const prompt = options.prompt.map((message): PromptMessage => {
    if (message.role === 'system') return message
    const content = message.content.map((part) => {
      if (part.type !== 'file') return part
      const { data } = part
      return { ...part, data: data instanceof URL ? { type: 'url', url: data } : { type: 'data', data } }
    })
    return { ...message, content }
  })
  return { ...options, prompt }
}

/** A part of a request that has no place in a prompt, where it is only recorded. */
export const unknownPart = (type: unknown): PromptPart => ({
  type: 'file',
  mediaType: typeof type === 'string' ? type : 'unknown',
})

/** A list of objects. */
export function recordsOf(value: unknown, at: string, expected: string): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw badField(at, value, `a list of ${expected}`)
  return value.map((item: unknown, i) => {
    if (!isRecord(item)) throw badField(`${at}[${i}]`, item, `one of ${expected}`)
    return item
  })
}

/** A text that must be there. */
export function textField(record: Readonly<Record<string, unknown>>, name: string, at: string): string {
  const value = record[name]
  if (typeof value !== 'string') throw badField(`${at}.${name}`, value, 'a text')
  return value
}
