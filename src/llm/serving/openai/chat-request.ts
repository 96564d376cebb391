import { defined } from '../../../defined.ts'
import type { ConversationMessage } from '../../agent/chat-format/types.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import { badField, booleanField, isRecord, numberField, readSampling, refuseFields } from './protocol.ts'
import type { Json, SamplingFields } from './protocol.ts'

export interface ChatRequest extends SamplingFields {
  messages: ConversationMessage[]
  tools: ToolSpec[]
  /** Whether to parse calls in the output. */
  callsAllowed: boolean
  /** The tools of which one must be called. */
  demanded?: ToolSpec[]
  /** The grammar of `response_format`. */
  grammar?: Grammar
  /** If false, only the first of several calls counts. */
  parallel: boolean
  logprobs: boolean
  topLogprobs: number
}

/** Parses the body of `POST /v1/chat/completions`. Throws `RequestError` naming the field. */
export function readChatRequest(body: Json): ChatRequest {
  const { messages, tools } = body
  if (!Array.isArray(messages) || messages.length === 0)
    throw badField('messages', messages, 'a list of messages')
  refuseFields(body, ['functions', 'function_call', 'audio'])
  const grammar = readFormat(body['response_format'])
  const specs = readTools(tools)
  const choice = readToolChoice(body['tool_choice'], specs)
  const offered = choice === 'none' ? [] : specs
  const topLogprobs = numberField(body, 'top_logprobs', { least: 0, most: 20, whole: true }) ?? 0
  return {
    ...readSampling(body),
    messages: messages.map(readMessage),
    tools: offered,
    callsAllowed: offered.length > 0,
    ...(choice === 'none' || choice === 'auto' ? {} : { demanded: choice }),
    ...defined({ grammar }),
    parallel: booleanField(body, 'parallel_tool_calls', undefined, true),
    logprobs: booleanField(body, 'logprobs') || topLogprobs > 0,
    topLogprobs,
  }
}

const roles = new Map<unknown, ConversationMessage['role']>([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
])

function readMessage(message: unknown, index: number): ConversationMessage {
  const at = `messages[${index}]`
  if (!isRecord(message)) throw badField(at, message, 'an object')
  const role = roles.get(message['role'])
  if (role === undefined) throw badField(`${at}.role`, message['role'], [...roles.keys()].join(', '))
  const text = readContent(message['content'], `${at}.content`)
  const { tool_call_id: callId } = message
  const calls = message['tool_calls'] ?? []
  if (!Array.isArray(calls)) throw badField(`${at}.tool_calls`, calls, 'a list of calls')
  const reasoning = optionalText(
    message['reasoning_content'] ?? message['reasoning'],
    `${at}.reasoning_content`,
  )
  if (role === 'tool' && typeof callId !== 'string') throw badField(`${at}.tool_call_id`, callId, 'a text')
  return {
    role,
    text,
    ...(role === 'assistant' && reasoning !== '' ? { reasoning } : {}),
    ...(role === 'assistant' && calls.length > 0
      ? { calls: calls.map((call, i) => readCall(call, `${at}.tool_calls[${i}]`)) }
      : {}),
    ...(role === 'tool' ? { callId: callId as string } : {}),
  }
}

function optionalText(value: unknown, at: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw badField(at, value, 'a text')
  return value
}

function readContent(content: unknown, at: string): string {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw badField(at, content, 'a text or a list of parts')
  return content
    .map((part: unknown, i) => {
      if (isRecord(part) && (part['type'] === 'text' || part['type'] === 'refusal')) {
        const text = part[part['type']]
        if (typeof text === 'string') return text
      }
      throw badField(`${at}[${i}]`, part, 'a part of type text: this model reads nothing else')
    })
    .join('')
}

/** Longer arguments fit no window, and take long to parse. */
const mostArguments = 2 ** 19

function readCall(call: unknown, at: string): NonNullable<ConversationMessage['calls']>[number] {
  const called = isRecord(call) ? call['function'] : undefined
  if (!isRecord(call) || !isRecord(called) || typeof called['name'] !== 'string')
    throw badField(at, call, 'a call of a function with its name')
  const given = called['arguments']
  if (typeof given === 'string' && given.length > mostArguments)
    throw badField(`${at}.function.arguments`, given, `at most ${mostArguments} characters`)
  const read = typeof given === 'string' ? parseObject(given) : given
  if (!isRecord(read))
    throw badField(`${at}.function.arguments`, given, 'a JSON object of at most 256 levels, as a text')
  return { id: optionalText(call['id'], `${at}.id`), name: called['name'], arguments: read }
}

function parseObject(text: string): unknown {
  try {
    return text.trim() === '' ? {} : parseForeignJson(text)
  } catch {
    return undefined
  }
}

function readTools(tools: unknown): ToolSpec[] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw badField('tools', tools, 'a list of tools')
  return tools.map((tool: unknown, i) => {
    const described = isRecord(tool) ? tool['function'] : undefined
    if (!isRecord(tool) || tool['type'] !== 'function' || !isRecord(described))
      throw badField(`tools[${i}]`, tool, 'a tool of type function')
    const { name } = described
    const at = `tools[${i}].function`
    if (typeof name !== 'string' || name === '') throw badField(`${at}.name`, name, 'a name')
    const description = optionalText(described['description'], `${at}.description`)
    const parameters = described['parameters'] ?? { type: 'object', properties: {} }
    if (!isRecord(parameters)) throw badField(`${at}.parameters`, parameters, 'a JSON Schema, as an object')
    return { name, ...(description === '' ? {} : { description }), inputSchema: parameters }
  })
}

function readToolChoice(choice: unknown, tools: readonly ToolSpec[]): 'none' | 'auto' | ToolSpec[] {
  if (choice === undefined || choice === null || choice === 'auto') return 'auto'
  if (choice === 'none') return 'none'
  const named = isRecord(choice) && isRecord(choice['function']) ? choice['function']['name'] : undefined
  if (choice === 'required' && tools.length > 0) return [...tools]
  const found = tools.filter(({ name }) => name === named)
  if (found.length > 0) return found
  throw badField('tool_choice', choice, 'none, auto, required, or the name of one of the tools')
}

/** A grammar enforces JSON of a schema, or any JSON object. */
function readFormat(format: unknown): Grammar | undefined {
  if (format === undefined || format === null) return undefined
  const expected = 'text, json_object, or json_schema with a schema'
  if (!isRecord(format)) throw badField('response_format', format, expected)
  const { type, json_schema: described } = format
  if (type === 'text') return undefined
  if (type === 'json_object') return { schema: { type: 'object' }, spaces: true }
  const schema = isRecord(described) ? described['schema'] : undefined
  if (type !== 'json_schema' || !isRecord(schema)) throw badField('response_format', format, expected)
  return { schema, spaces: true }
}
