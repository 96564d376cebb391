import { defined } from '../../../defined.ts'
import type { ConversationMessage } from '../../agent/chat-format/types.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ToolSpec } from '../../tool/tool.ts'
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
    parallel: body['parallel_tool_calls'] !== false,
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
  const { tool_calls: calls, tool_call_id: callId } = message
  const reasoning = message['reasoning_content'] ?? message['reasoning']
  if (role === 'tool' && typeof callId !== 'string') throw badField(`${at}.tool_call_id`, callId, 'a text')
  return {
    role,
    text,
    ...(role === 'assistant' && typeof reasoning === 'string' && reasoning !== '' ? { reasoning } : {}),
    ...(role === 'assistant' && Array.isArray(calls) && calls.length > 0
      ? { calls: calls.map((call, i) => readCall(call, `${at}.tool_calls[${i}]`)) }
      : {}),
    ...(role === 'tool' ? { callId: callId as string } : {}),
  }
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

function readCall(call: unknown, at: string): NonNullable<ConversationMessage['calls']>[number] {
  const called = isRecord(call) ? call['function'] : undefined
  if (!isRecord(call) || !isRecord(called) || typeof called['name'] !== 'string')
    throw badField(at, call, 'a call of a function with its name')
  const given = called['arguments']
  const read = typeof given === 'string' ? parseObject(given) : given
  if (!isRecord(read)) throw badField(`${at}.function.arguments`, given, 'a JSON object, as a text')
  return { id: typeof call['id'] === 'string' ? call['id'] : '', name: called['name'], arguments: read }
}

function parseObject(text: string): unknown {
  try {
    return text.trim() === '' ? {} : (JSON.parse(text) as unknown)
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
    const { name, description, parameters } = described
    if (typeof name !== 'string' || name === '') throw badField(`tools[${i}].function.name`, name, 'a name')
    return {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      inputSchema: isRecord(parameters) ? parameters : { type: 'object', properties: {} },
    }
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
