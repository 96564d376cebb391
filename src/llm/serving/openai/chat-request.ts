import { readConversation } from '../../agent/ai-sdk/read-call.ts'
import type { ConversationMessage } from '../../agent/chat-format/types.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import type { JsonSchema } from '../../../untrusted/schema-check.ts'
import { optionalText, readChatMessages, textOnly } from './chat-messages.ts'
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
  const prompt = readChatMessages(body['messages'], textOnly)
  refuseFields(body, ['functions', 'function_call', 'audio'])
  const schema = readFormat(body['response_format'])
  const specs = readTools(body['tools'])
  const choice = readToolChoice(body['tool_choice'], specs)
  const offered = choice === 'none' ? [] : specs
  const topLogprobs = numberField(body, 'top_logprobs', { least: 0, most: 20, whole: true }) ?? 0
  return {
    ...readSampling(body),
    messages: readConversation({ prompt }).messages,
    tools: offered,
    callsAllowed: offered.length > 0,
    ...(choice === 'none' || choice === 'auto' ? {} : { demanded: choice }),
    ...(schema === undefined ? {} : { grammar: { schema, spaces: true } }),
    parallel: booleanField(body, 'parallel_tool_calls', undefined, true),
    logprobs: booleanField(body, 'logprobs') || topLogprobs > 0,
    topLogprobs,
  }
}

/** Reads the `tools` of a chat completion. */
export function readTools(tools: unknown): ToolSpec[] {
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

/** Reads `tool_choice`: of a list of tools one must be called. */
export function readToolChoice(choice: unknown, tools: readonly ToolSpec[]): 'none' | 'auto' | ToolSpec[] {
  if (choice === undefined || choice === null || choice === 'auto') return 'auto'
  if (choice === 'none') return 'none'
  const named = isRecord(choice) && isRecord(choice['function']) ? choice['function']['name'] : undefined
  if (choice === 'required' && tools.length > 0) return [...tools]
  const found = tools.filter(({ name }) => name === named)
  if (found.length > 0) return found
  throw badField('tool_choice', choice, 'none, auto, required, or the name of one of the tools')
}

/** Reads `response_format`: the schema of the answer, or undefined for any text. */
export function readFormat(format: unknown): JsonSchema | undefined {
  if (format === undefined || format === null) return undefined
  const expected = 'text, json_object, or json_schema with a schema'
  if (!isRecord(format)) throw badField('response_format', format, expected)
  const { type, json_schema: described } = format
  if (type === 'text') return undefined
  if (type === 'json_object') return { type: 'object' }
  const schema = isRecord(described) ? described['schema'] : undefined
  if (type !== 'json_schema' || !isRecord(schema)) throw badField('response_format', format, expected)
  return schema
}
