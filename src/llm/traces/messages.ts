import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { ToolCall } from '../episode/types.ts'
import type { ToolSpec } from '../tool/tool.ts'

/** An object or a list that may also be written as JSON in a text. Any other text is itself. */
export function structured(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return parseForeignJson(value)
  } catch {
    return value
  }
}

const roles: Readonly<Record<string, ConversationMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  human: 'user',
  assistant: 'assistant',
  ai: 'assistant',
  model: 'assistant',
  tool: 'tool',
  function: 'tool',
}

/** A message that cannot be read, and why. */
export class UnreadableMessage extends Error {}

/** A call of a model: what it was shown, and what it answered. Several answers are choices. */
export interface ReadConversation {
  messages: ConversationMessage[]
  answers: ConversationMessage[]
}

/**
 * The messages of a call in any of the forms that services and instrumentations write: OpenAI's and Anthropic's chat formats, the prompts
 * of the AI SDK, and the parts of OpenTelemetry's GenAI conventions. Reasoning is left out. A part that is no text becomes its type in
 * brackets. A call without an id gets one by its place.
 *
 * @throws UnreadableMessage
 */
export function readConversation(prompt: readonly unknown[], answer: readonly unknown[]): ReadConversation {
  const shown = prompt.flatMap(readMessage)
  const all = withCallIds([...shown, ...answer.flatMap(readMessage)])
  const answers = all.slice(shown.length).filter(({ role }) => role === 'assistant')
  return { messages: all.slice(0, shown.length), answers }
}

function readMessage(given: unknown): ConversationMessage[] {
  if (!isRecord(given)) throw new UnreadableMessage('a message is not an object')
  const { role: named, tool_calls: toolCalls, function_call: functionCall } = given
  const role = typeof named === 'string' ? roles[named.toLowerCase()] : undefined
  if (role === undefined)
    throw new UnreadableMessage(`a message has the role ${JSON.stringify(named)?.slice(0, 60)}`)
  const parts = partsOf(given['parts'] ?? given['content'] ?? given['contents'])
  const results = parts.flatMap((part) => readResult(part) ?? [])
  const text = parts.map(textOfPart).join('')
  if (role === 'tool' && results.length === 0)
    return [{ role, text, callId: idOf(given['tool_call_id'] ?? given['id'] ?? given['name']) }]
  const calls = [
    ...parts.flatMap((part) => readCall(part) ?? []),
    ...listOf(toolCalls).flatMap((call) => readCall(call) ?? []),
    ...(isRecord(functionCall) ? [readCall({ function: functionCall })].flatMap((call) => call ?? []) : []),
  ]
  const isEmpty = text === '' && calls.length === 0 && results.length > 0
  return [
    ...results,
    ...(isEmpty || role === 'tool' ? [] : [{ role, text, ...(calls.length === 0 ? {} : { calls }) }]),
  ]
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const idOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The parts of a message. A text is one part. */
function partsOf(given: unknown): unknown[] {
  if (given === undefined || given === null) return []
  return Array.isArray(given) ? given : [given]
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  if (!isRecord(part)) return ''
  const { type: given, text, content } = part
  const type = typeof given === 'string' ? given : 'text'
  if (type === 'reasoning' || type === 'thinking' || type === 'redacted_thinking') return ''
  if (isCall(part) || isResult(part)) return ''
  const said = text ?? content
  if (type.endsWith('text') && typeof said === 'string') return said
  return `(${typeof part['modality'] === 'string' ? part['modality'] : type})`
}

const callTypes: readonly unknown[] = [
  'tool_call',
  'tool-call',
  'tool_use',
  'function_call',
  'server_tool_call',
]
const resultTypes: readonly unknown[] = [
  'tool_call_response',
  'tool-result',
  'tool_result',
  'function_call_output',
  'server_tool_call_response',
]
const isCall = ({ type }: Record<string, unknown>): boolean => callTypes.includes(type)
const isResult = ({ type }: Record<string, unknown>): boolean => resultTypes.includes(type)

function readCall(given: unknown): ToolCall | undefined {
  if (!isRecord(given)) return undefined
  const part = isRecord(given['tool_call']) ? given['tool_call'] : given
  const inner = isRecord(part['function']) ? part['function'] : part
  const name = inner['name'] ?? part['toolName']
  if (
    typeof name !== 'string' ||
    !(isCall(part) || 'function' in part || part !== given || 'arguments' in part)
  )
    return undefined
  const args = structured(inner['arguments'] ?? part['input'] ?? part['args'] ?? {})
  return {
    id: idOf(part['id'] ?? part['toolCallId'] ?? part['call_id']),
    name,
    // What is no object was refused by the tool too; the text of the answer says what was written.
    arguments: isRecord(args) ? args : {},
  }
}

function readResult(part: unknown): ConversationMessage | undefined {
  if (!isRecord(part) || !isResult(part)) return undefined
  const given = part['output'] ?? part['response'] ?? part['result'] ?? part['content']
  const { text, isError } = resultText(given)
  return {
    role: 'tool',
    text,
    callId: idOf(part['toolCallId'] ?? part['tool_use_id'] ?? part['call_id'] ?? part['id']),
    ...(isError || part['is_error'] === true || part['isError'] === true ? { isError: true } : {}),
  }
}

/** A result as text. The AI SDK wraps it as `{ type, value }`; others write parts, a text, or JSON. */
export function resultText(given: unknown): { text: string; isError: boolean } {
  if (isRecord(given) && typeof given['type'] === 'string' && 'value' in given)
    return { text: resultText(given['value']).text, isError: given['type'].startsWith('error') }
  if (Array.isArray(given) && given.every((part) => isRecord(part) && 'type' in part))
    return { text: given.map(textOfPart).join('\n'), isError: false }
  return { text: typeof given === 'string' ? given : (JSON.stringify(given) ?? ''), isError: false }
}

/** Calls and results without an id get one by their place, so that a result names its call. */
function withCallIds(messages: readonly ConversationMessage[]): ConversationMessage[] {
  let open: string[] = []
  return messages.map((message, at) => {
    if (message.calls !== undefined) {
      const calls = message.calls.map((call, index) => ({
        ...call,
        id: call.id === '' ? `${at}.${index}` : call.id,
      }))
      open = calls.map(({ id }) => id)
      return { ...message, calls }
    }
    if (message.role !== 'tool') return message
    const callId = message.callId === undefined || message.callId === '' ? (open[0] ?? '') : message.callId
    open = open.filter((id) => id !== callId)
    return { ...message, callId }
  })
}

/** The tools of a call, in OpenAI's, Anthropic's, the AI SDK's or OpenTelemetry's form. What is none is left out. */
export function readTools(given: unknown): ToolSpec[] {
  return listOf(structured(given)).flatMap((one): ToolSpec[] => {
    const tool = structured(one)
    if (!isRecord(tool)) return []
    const inner = isRecord(tool['function']) ? tool['function'] : tool
    const { name, description } = inner
    const schema = inner['parameters'] ?? inner['inputSchema'] ?? inner['input_schema']
    if (typeof name !== 'string') return []
    return [
      {
        name,
        ...(typeof description === 'string' && { description }),
        inputSchema: isRecord(schema) ? schema : {},
      },
    ]
  })
}
