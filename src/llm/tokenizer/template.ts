import { markedAnswer, markedResult } from './record-marks.ts'
import type { Tokenizer } from './tokenizer.ts'

/** One message of a conversation, before it is tokenized. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  calls?: { name: string; arguments: Record<string, unknown> }[]
}

/** The special tokens of the local models, in the order of their ids (0, 1, 2 ...). */
export const specialTokens = [
  '<|pad|>',
  '<|end|>',
  '<|system|>',
  '<|user|>',
  '<|assistant|>',
  '<|tool|>',
  '<|call|>',
  '<|spare|>',
] as const

export type SpecialToken = (typeof specialTokens)[number]

/**
 * Tokens of one message. `mask` is 1 for tokens of the policy, and 0 for its forced `<|assistant|>` marker and
 * everything else.
 */
export interface EncodedMessage {
  tokens: Int32Array
  mask: Uint8Array
}

type Segment = { special: SpecialToken } | { text: string } | { token: number }

/** Compact JSON of a call, exactly as between `<|call|>` and the next marker. */
export function callText(call: { name: string; arguments: Record<string, unknown> }): string {
  return JSON.stringify({ name: call.name, arguments: call.arguments })
}

function segments(message: ChatMessage, text: readonly Segment[]): Segment[] {
  const parts: Segment[] = [{ special: `<|${message.role}|>` }, ...text]
  for (const call of message.calls ?? []) parts.push({ special: '<|call|>' }, { text: callText(call) })
  parts.push({ special: '<|end|>' })
  return parts
}

/** The message as text with markers, for reading and for training the tokenizer. Do not encode it. */
export function renderMessage(message: ChatMessage): string {
  return segments(message, [{ text: message.text }])
    .map((part) => ('special' in part ? part.special : 'text' in part ? part.text : ''))
    .join('')
}

/** The text of a message, with the marks of records for a model that has them. */
function markedText(
  tokenizer: Tokenizer,
  { role, text }: ChatMessage,
  result: string | undefined,
): Segment[] {
  if (tokenizer.mark(1) === undefined) return [{ text }]
  const answered = role === 'assistant' ? result : undefined
  if (role !== 'tool' && answered === undefined) return [{ text }]
  const parts = answered === undefined ? markedResult(text) : markedAnswer(text, answered)
  return parts.flatMap((part): Segment[] => {
    if (typeof part === 'string') return [{ text: part }]
    const token = tokenizer.mark(part)
    return token === undefined ? [] : [{ token }]
  })
}

/**
 * The message as tokens. Markers and text are encoded separately, so no text can become a marker. In an assistant
 * message everything after `<|assistant|>`, up to and including `<|end|>`, has mask 1.
 *
 * @param result the text of the last result before it, whose records an answer may be about. Default: none.
 */
export function encodeMessage(tokenizer: Tokenizer, message: ChatMessage, result?: string): EncodedMessage {
  const ids: number[] = []
  for (const part of segments(message, markedText(tokenizer, message, result))) {
    if ('special' in part) ids.push(tokenizer.special(part.special))
    else if ('text' in part) for (const id of tokenizer.encode(part.text)) ids.push(id)
    else ids.push(part.token)
  }
  const mask = new Uint8Array(ids.length)
  if (message.role === 'assistant') mask.fill(1, 1)
  return { tokens: Int32Array.from(ids), mask }
}

/** The text of the last result among these messages, for `encodeMessage`. */
export function lastResult(messages: readonly Pick<ChatMessage, 'role' | 'text'>[]): string | undefined {
  return messages.findLast(({ role }) => role === 'tool')?.text
}

/** All messages concatenated; see `encodeMessage`. */
export function encodeConversation(tokenizer: Tokenizer, messages: readonly ChatMessage[]): EncodedMessage {
  let last: string | undefined
  const parts = messages.map((message) => {
    const part = encodeMessage(tokenizer, message, last)
    if (message.role === 'tool') last = message.text
    return part
  })
  const length = parts.reduce((sum, part) => sum + part.tokens.length, 0)
  const result = { tokens: new Int32Array(length), mask: new Uint8Array(length) }
  let offset = 0
  for (const part of parts) {
    result.tokens.set(part.tokens, offset)
    result.mask.set(part.mask, offset)
    offset += part.tokens.length
  }
  return result
}
