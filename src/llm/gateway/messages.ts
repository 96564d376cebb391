import { defined } from '../../defined.ts'
import type { CallOptions, PromptMessage, PromptPart } from '../agent/ai-sdk/read-call.ts'
import { joinResults, optionalText, toolResult } from '../serving/openai/chat-messages.ts'
import { badField, booleanField, isRecord, type Json, numberField } from '../serving/openai/protocol.ts'
import { addPart, type Answer, type Block, type Finish, type TokenCounts } from './answer.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { anthropicError } from './errors.ts'
import {
  type AnswerHead,
  type EventWriter,
  fileFromUrl,
  type Protocol,
  type ProtocolCall,
  readNumbers,
  recordsOf,
  textField,
  unknownPart,
  type WireEvent,
} from './protocol.ts'

/** The Messages API of Anthropic. */
export const messages: Protocol = {
  path: 'messages',
  idPrefix: 'msg_',
  read,
  write: (answer, head) => ({
    ...headOf(head),
    content: answer.blocks.map(blockOf),
    stop_reason: reasons[answer.finish],
    stop_sequence: null,
    usage: usageOf(answer.usage),
  }),
  writer,
  error: anthropicError,
  errorEvent: (error) => ({ name: 'error', data: anthropicError(error) }),
}

function read(body: Json, _earlier: unknown, isLenient = false): ProtocolCall {
  const maxOutputTokens = numberField(body, 'max_tokens', { least: 1, whole: true })
  if (maxOutputTokens === undefined) throw badField('max_tokens', undefined, 'a whole number of at least 1')
  const names = new Map<string, string>()
  const conversation = recordsOf(body['messages'], 'messages', 'messages').flatMap((message, i) =>
    readMessage(message, `messages[${i}]`, names, isLenient),
  )
  if (conversation.length === 0) throw badField('messages', body['messages'], 'a list of messages')
  const system = readParts(body['system'] ?? '', 'system', isLenient)
    .map(({ text = '' }) => text)
    .join('\n\n')
  const tools = readTools(body['tools'], isLenient)
  const stop = body['stop_sequences'] ?? []
  if (!Array.isArray(stop) || stop.some((text) => typeof text !== 'string' || text === ''))
    throw badField('stop_sequences', stop, 'a list of texts')
  const topK = numberField(body, 'top_k', { least: 0, whole: true })
  const { thinking } = body
  const schema = schemaOf(body)
  return {
    model: typeof body['model'] === 'string' ? body['model'] : undefined,
    stream: booleanField(body, 'stream'),
    echo: {},
    options: {
      prompt: [
        ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
        ...joinResults(conversation),
      ],
      maxOutputTokens,
      ...readNumbers(body),
      ...defined({ topK }),
      ...(stop.length > 0 && { stopSequences: stop as string[] }),
      ...(tools.length > 0 && { tools, toolChoice: readChoice(body['tool_choice'], tools) }),
      ...(schema !== undefined && { responseFormat: { type: 'json' as const, schema } }),
      ...(isRecord(thinking) && { providerOptions: { anthropic: { thinking: thinkingOf(thinking) } } }),
    },
  }
}

/** `output_config.format`; `output_format` before. */
function schemaOf(body: Json): Json | undefined {
  const { format } = isRecord(body['output_config']) ? body['output_config'] : {}
  const { type, schema } = [format, body['output_format']].find(isRecord) ?? {}
  if (type === undefined) return undefined
  if (type === 'json_schema' && isRecord(schema)) return schema
  throw badField('output_config.format', type, 'json_schema with a schema')
}

const thinkingOf = ({ type, budget_tokens: budgetTokens }: Json): Json => ({
  type,
  ...defined({ budgetTokens }),
})

function readMessage(
  { role, content }: Record<string, unknown>,
  at: string,
  names: Map<string, string>,
  isLenient: boolean,
): PromptMessage[] {
  if (role !== 'user' && role !== 'assistant') throw badField(`${at}.role`, role, 'user or assistant')
  if (typeof content === 'string') return [{ role, content: readParts(content, at, isLenient) }]
  const blocks = recordsOf(content, `${at}.content`, 'blocks')
  if (role === 'assistant')
    return [
      {
        role,
        content: blocks.flatMap((block, i) => readAssistant(block, `${at}.content[${i}]`, names, isLenient)),
      },
    ]
  const results = blocks.flatMap((block, i) =>
    block['type'] === 'tool_result' ? [readResult(block, `${at}.content[${i}]`, names, isLenient)] : [],
  )
  const rest = blocks.flatMap((block, i) =>
    block['type'] === 'tool_result' ? [] : [readPart(block, `${at}.content[${i}]`, isLenient)],
  )
  const both: PromptMessage[] = [
    { role: 'tool', content: results },
    { role, content: rest },
  ]
  return both.filter(({ content: parts }) => parts.length > 0)
}

function readParts(content: unknown, at: string, isLenient: boolean): PromptPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return recordsOf(content, at, 'blocks').map((block, i) => readPart(block, `${at}[${i}]`, isLenient))
}

function readPart(block: Record<string, unknown>, at: string, isLenient: boolean): PromptPart {
  const { type, source } = block
  if (type === 'text') return { type, text: textField(block, 'text', at) }
  const isFile = (type === 'image' || type === 'document') && isRecord(source)
  if (isLenient && !(isFile && ['url', 'text', 'base64'].includes(String(source['type']))))
    return unknownPart(type)
  if (!isFile) throw badField(`${at}.type`, type, 'text, image or document')
  const mediaType = type === 'image' ? 'image/*' : 'application/pdf'
  if (source['type'] === 'url') return fileFromUrl(source['url'], mediaType, `${at}.source.url`)
  if (source['type'] === 'text') return { type: 'text', text: textField(source, 'data', `${at}.source`) }
  if (source['type'] !== 'base64') throw badField(`${at}.source.type`, source['type'], 'base64, url or text')
  return {
    type: 'file',
    mediaType: optionalText(source['media_type'], `${at}.source.media_type`) || mediaType,
    data: textField(source, 'data', `${at}.source`),
  }
}

function readAssistant(
  block: Record<string, unknown>,
  at: string,
  names: Map<string, string>,
  isLenient: boolean,
): PromptPart[] {
  const { type, signature, input } = block
  // Only the service that wrote it can read it.
  if (type === 'redacted_thinking') return []
  if (type === 'thinking')
    return [
      {
        type: 'reasoning',
        text: textField(block, 'thinking', at),
        ...(typeof signature === 'string' &&
          signature !== '' && { providerOptions: { anthropic: { signature } } }),
      },
    ]
  if (type === 'text') {
    const text = textField(block, 'text', at)
    return text === '' ? [] : [{ type, text }]
  }
  if (type !== 'tool_use' && isLenient) return []
  if (type !== 'tool_use') throw badField(`${at}.type`, type, 'text, thinking or tool_use')
  const [toolCallId, toolName] = [textField(block, 'id', at), textField(block, 'name', at)]
  if (!isRecord(input)) throw badField(`${at}.input`, input, 'an object')
  names.set(toolCallId, toolName)
  return [{ type: 'tool-call', toolCallId, toolName, input }]
}

function readResult(
  block: Record<string, unknown>,
  at: string,
  names: ReadonlyMap<string, string>,
  isLenient: boolean,
): PromptPart {
  const { content = '', is_error: isError } = block
  const value = readParts(content, `${at}.content`, isLenient)
    .map(({ text, mediaType = '' }) => text ?? `(${mediaType})`)
    .join('\n')
  return toolResult(textField(block, 'tool_use_id', at), names, {
    type: isError === true ? 'error-text' : 'text',
    value,
  })
}

function readTools(given: unknown, isLenient: boolean): NonNullable<CallOptions['tools']>[number][] {
  if (given === undefined || given === null) return []
  const isOwn = ({ type = null }: Record<string, unknown>): boolean => type === null || type === 'custom'
  const tools = recordsOf(given, 'tools', 'tools').filter((tool) => !isLenient || isOwn(tool))
  return tools.map((tool, i) => {
    const at = `tools[${i}]`
    if (!isOwn(tool))
      throw badField(`${at}.type`, tool['type'], 'custom: tools of the service itself do not run here')
    const description = optionalText(tool['description'], `${at}.description`)
    const { input_schema: inputSchema } = tool
    if (!isRecord(inputSchema))
      throw badField(`${at}.input_schema`, inputSchema, 'a JSON Schema, as an object')
    const name = textField(tool, 'name', at)
    return { type: 'function', name, ...(description !== '' && { description }), inputSchema }
  })
}

function readChoice(choice: unknown, tools: readonly { name: string }[]): CallOptions['toolChoice'] {
  if (choice === undefined || choice === null) return { type: 'auto' }
  const { type, name } = isRecord(choice) ? choice : {}
  if (type === 'auto' || type === 'none') return { type }
  if (type === 'any') return { type: 'required' }
  const found = tools.find((tool) => type === 'tool' && tool.name === name)
  if (found === undefined) throw badField('tool_choice', choice, 'auto, any, none, or one of the tools')
  return { type: 'tool', toolName: found.name }
}

const reasons: Record<Finish, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
}

const headOf = ({ id, model }: AnswerHead): Json => ({ id, type: 'message', role: 'assistant', model })

const usageOf = ({ input, output }: TokenCounts): Json => ({
  input_tokens: input,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: output,
})

function blockOf(block: Block): Json {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'reasoning')
    return { type: 'thinking', thinking: block.text, signature: block.signature ?? '' }
  return { type: 'tool_use', id: block.id, name: block.name, input: objectOf(block.arguments) }
}

/** The protocol has no place for arguments that are no object. */
function objectOf(written: string): Json {
  try {
    const value = parseForeignJson(written)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function writer(head: AnswerHead): EventWriter {
  const answer: Answer = { blocks: [], finish: 'stop', usage: { input: 0, output: 0 } }
  const open = new Set<number>()
  const event = (type: string, fields: Json = {}): WireEvent => ({ name: type, data: { type, ...fields } })

  function begin(index: number): WireEvent {
    open.add(index)
    const block = answer.blocks[index]
    const empty =
      block.type === 'call' ? { ...block, arguments: '{}' } : { ...block, text: '', signature: '' }
    return event('content_block_start', { index, content_block: blockOf(empty) })
  }
  const delta = (index: number, fields: Json): WireEvent =>
    event('content_block_delta', { index, delta: fields })
  const stop = (index: number): WireEvent[] =>
    open.delete(index) ? [event('content_block_stop', { index })] : []

  return {
    start: () => [
      event('message_start', {
        message: {
          ...headOf(head),
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: usageOf(answer.usage),
        },
      }),
    ],
    part(part) {
      const before = answer.blocks.length
      addPart(answer, part)
      const isNew = answer.blocks.length > before
      const isCall = answer.blocks[before - 1]?.type === 'call'
      const begun = isNew ? [...(isCall ? [] : stop(before - 1)), begin(before)] : []
      const last = answer.blocks.length - 1
      if (part.type === 'text' && part.text !== '')
        return [...begun, delta(last, { type: 'text_delta', text: part.text })]
      if (part.type === 'reasoning')
        return [
          ...begun,
          ...(part.text === '' ? [] : [delta(last, { type: 'thinking_delta', thinking: part.text })]),
          ...(part.signature === undefined
            ? []
            : [delta(last, { type: 'signature_delta', signature: part.signature })]),
        ]
      if (part.type !== 'arguments' && part.type !== 'call-end') return begun
      const at = answer.blocks.findIndex((block) => block.type === 'call' && block.id === part.id)
      return part.type === 'arguments'
        ? [delta(at, { type: 'input_json_delta', partial_json: part.text })]
        : stop(at)
    },
    end: () => [
      ...[...open].flatMap(stop),
      event('message_delta', {
        delta: { stop_reason: reasons[answer.finish], stop_sequence: null },
        usage: usageOf(answer.usage),
      }),
      event('message_stop'),
    ],
  }
}
