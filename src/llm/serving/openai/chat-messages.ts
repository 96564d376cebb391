import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import type { PromptMessage, PromptPart } from '../../agent/ai-sdk/read-call.ts'
import { badField, isRecord } from './protocol.ts'

/** What an endpoint makes of the parts that not every model can read. */
export interface MessageRules {
  /** Reads a part that is no text. Throws `RequestError` if it cannot be used. */
  readFile: (part: unknown, at: string) => PromptPart
  /** Whether the arguments of earlier calls must be JSON objects. If not, other ones are passed on as the text that the model wrote. */
  strictArguments: boolean
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool']

/** Reads the `messages` of a chat completion as the prompt of a model object. Throws `RequestError` naming the field. */
export function readChatMessages(messages: unknown, rules: MessageRules): PromptMessage[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw badField('messages', messages, 'a list of messages')
  const names = new Map<string, string>()
  return joinResults(
    messages.map((message: unknown, index) => readMessage(message, `messages[${index}]`, rules, names)),
  )
}

/** Model objects expect the results of a turn in one message. */
export function joinResults(messages: readonly PromptMessage[]): PromptMessage[] {
  const joined: PromptMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (message.role === 'tool' && last?.role === 'tool')
      joined[joined.length - 1] = { role: 'tool', content: [...last.content, ...message.content] }
    else joined.push(message)
  }
  return joined
}

function readMessage(
  message: unknown,
  at: string,
  rules: MessageRules,
  names: Map<string, string>,
): PromptMessage {
  if (!isRecord(message)) throw badField(at, message, 'an object')
  const { role, content, tool_call_id: callId } = message
  if (role === 'system' || role === 'developer')
    return { role: 'system', content: joined(readContent(content, `${at}.content`)) }
  if (role === 'user') return { role, content: readContent(content, `${at}.content`, rules.readFile) }
  if (role === 'assistant') return { role, content: readAssistant(message, at, rules, names) }
  if (role !== 'tool') throw badField(`${at}.role`, role, roles.join(', '))
  const value = joined(readContent(content, `${at}.content`))
  if (typeof callId !== 'string') throw badField(`${at}.tool_call_id`, callId, 'a text')
  return { role, content: [toolResult(callId, names, { type: 'text', value })] }
}

/** The result of a call as a part of a prompt. `names` are those of the tools by the ids of their calls. */
export function toolResult(callId: string, names: ReadonlyMap<string, string>, output: object): PromptPart {
  return { type: 'tool-result', toolCallId: callId, toolName: names.get(callId) ?? '', output }
}

const joined = (parts: readonly PromptPart[]): string => parts.map(({ text = '' }) => text).join('')

function readAssistant(
  message: Readonly<Record<string, unknown>>,
  at: string,
  { strictArguments }: MessageRules,
  names: Map<string, string>,
): PromptPart[] {
  const text = readContent(message['content'], `${at}.content`)
  const reasoning = optionalText(
    message['reasoning_content'] ?? message['reasoning'],
    `${at}.reasoning_content`,
  )
  const calls = message['tool_calls'] ?? []
  if (!Array.isArray(calls)) throw badField(`${at}.tool_calls`, calls, 'a list of calls')
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }]),
    ...text,
    ...calls.map((call: unknown, i) => {
      const read = readCall(call, `${at}.tool_calls[${i}]`, strictArguments)
      names.set(read.toolCallId, read.toolName)
      return read
    }),
  ]
}

/** A text; an empty one if it is missing or null. */
export function optionalText(value: unknown, at: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw badField(at, value, 'a text')
  return value
}

const refuseFile: MessageRules['readFile'] = (part, at) => {
  throw badField(at, part, 'a part of type text: this model reads nothing else')
}

function readContent(content: unknown, at: string, readFile = refuseFile): PromptPart[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw badField(at, content, 'a text or a list of parts')
  return content.map((part: unknown, i) => {
    if (isRecord(part) && (part['type'] === 'text' || part['type'] === 'refusal')) {
      const text = part[part['type']]
      if (typeof text === 'string') return { type: 'text', text }
    }
    return readFile(part, `${at}[${i}]`)
  })
}

type CallPart = PromptPart & { toolCallId: string; toolName: string }

function readCall(call: unknown, at: string, strict: boolean): CallPart {
  const called = isRecord(call) ? call['function'] : undefined
  if (!isRecord(call) || !isRecord(called) || typeof called['name'] !== 'string')
    throw badField(at, call, 'a call of a function with its name')
  const input = readWritten(called['arguments'], `${at}.function.arguments`, strict)
  return {
    type: 'tool-call',
    toolCallId: optionalText(call['id'], `${at}.id`),
    toolName: called['name'],
    input,
  }
}

/** Longer arguments fit no window, and take long to parse. */
const mostArguments = 2 ** 19

/** The arguments of a call that a model wrote. */
export function readWritten(given: unknown, at: string, strict: boolean): unknown {
  if (typeof given === 'string' && given.length > mostArguments)
    throw badField(at, given, `at most ${mostArguments} characters`)
  const read = typeof given === 'string' ? parseObject(given) : given
  if (isRecord(read)) return read
  if (strict || typeof given !== 'string')
    throw badField(at, given, 'a JSON object of at most 256 levels, as a text')
  return given
}

function parseObject(text: string): unknown {
  try {
    return text.trim() === '' ? {} : parseForeignJson(text)
  } catch {
    return undefined
  }
}

export const textOnly: MessageRules = { readFile: refuseFile, strictArguments: true }
