import { defined } from '../../defined.ts'
import type { CallOptions, PromptMessage, PromptPart } from '../agent/ai-sdk/read-call.ts'
import { joinResults, optionalText, readWritten, toolResult } from '../serving/openai/chat-messages.ts'
import {
  badField,
  booleanField,
  isRecord,
  type Json,
  numberField,
  openAIError,
  refuseFields,
} from '../serving/openai/protocol.ts'
import { addPart, type Answer, type AnswerPart, type Block } from './answer.ts'
import { functionsOf, openAIOptions } from './chat-completions.ts'
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

/** The Responses API of OpenAI. */
export const responses: Protocol = {
  path: 'responses',
  idPrefix: 'resp_',
  read,
  write: (answer, head, { echo }) => responseOf(answer, head, echo),
  writer,
  error: openAIError,
  errorEvent: ({ code, message, param }) => ({
    name: 'error',
    data: { type: 'error', code, message, param, sequence_number: 0 },
  }),
}

function read(
  body: Json,
  earlier: (id: string) => readonly PromptMessage[],
  isLenient = false,
): ProtocolCall {
  if (!isLenient) refuseFields(body, ['conversation', 'prompt', 'background', 'top_logprobs'])
  const previous = body['previous_response_id']
  const before = typeof previous === 'string' ? earlier(previous) : []
  const kept = joinItems([...before, ...readInput(body['input'], before, isLenient)])
  if (kept.length === 0) throw badField('input', body['input'], 'a text or a list of items')
  const instructions = optionalText(body['instructions'], 'instructions')
  const tools = readTools(isLenient ? functionsOf(body['tools']) : body['tools'])
  const schema = readFormat(body['text'])
  const { effort } = isRecord(body['reasoning']) ? body['reasoning'] : {}
  const maxOutputTokens = numberField(body, 'max_output_tokens', { least: 1, whole: true })
  return {
    model: typeof body['model'] === 'string' ? body['model'] : undefined,
    stream: booleanField(body, 'stream'),
    ...(booleanField(body, 'store', undefined, true) && { kept }),
    echo: echoOf(body),
    options: {
      prompt: [...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]), ...kept],
      ...(tools.length > 0 && { tools, toolChoice: readChoice(body['tool_choice'], tools) }),
      ...readNumbers(body),
      ...defined({ maxOutputTokens }),
      ...(schema !== undefined && { responseFormat: { type: 'json' as const, schema } }),
      ...openAIOptions(effort, body['parallel_tool_calls']),
    },
  }
}

function readInput(input: unknown, before: readonly PromptMessage[], isLenient: boolean): PromptMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: [{ type: 'text', text: input }] }]
  if (input === undefined || input === null) return []
  const names = namesOf(before)
  return recordsOf(input, 'input', 'items')
    .filter(({ type = 'message' }) => !isLenient || itemTypes.includes(String(type)))
    .map((item, i) => readItem(item, `input[${i}]`, names, isLenient))
}

const itemTypes = ['message', 'reasoning', 'function_call', 'function_call_output']

/** The names of tools by the ids of their calls. */
function namesOf(messages: readonly PromptMessage[]): Map<string, string> {
  const parts = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
  return new Map(
    parts.flatMap(({ type, toolCallId = '', toolName = '' }) =>
      type === 'tool-call' ? [[toolCallId, toolName] as const] : [],
    ),
  )
}

function readItem(
  item: Record<string, unknown>,
  at: string,
  names: Map<string, string>,
  isLenient: boolean,
): PromptMessage {
  const { type = 'message', role, content } = item
  if (type === 'function_call') {
    const [toolCallId, toolName] = [textField(item, 'call_id', at), textField(item, 'name', at)]
    names.set(toolCallId, toolName)
    const input = readWritten(item['arguments'], `${at}.arguments`, false)
    return { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] }
  }
  if (type === 'function_call_output') {
    const { output } = item
    const value =
      typeof output === 'string' ? output : textOfParts(readParts(output, `${at}.output`, isLenient))
    return {
      role: 'tool',
      content: [toolResult(textField(item, 'call_id', at), names, { type: 'text', value })],
    }
  }
  if (type === 'reasoning') return { role: 'assistant', content: readReasoning(item, at) }
  if (type !== 'message') throw badField(`${at}.type`, type, itemTypes.join(', '))
  const parts = readParts(content, `${at}.content`, isLenient)
  if (role === 'system' || role === 'developer') return { role: 'system', content: textOfParts(parts) }
  if (role === 'user' || role === 'assistant') return { role, content: parts }
  throw badField(`${at}.role`, role, 'system, developer, user or assistant')
}

const textOfParts = (parts: readonly PromptPart[]): string => parts.map(({ text = '' }) => text).join('')

function readParts(content: unknown, at: string, isLenient: boolean): PromptPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return recordsOf(content, at, 'parts').map((part, i) => {
    const { type } = part
    if (type === 'input_text' || type === 'output_text' || type === 'text')
      return { type: 'text', text: textField(part, 'text', `${at}[${i}]`) }
    if (type === 'refusal') return { type: 'text', text: textField(part, 'refusal', `${at}[${i}]`) }
    if (type === 'input_image' && part['image_url'] !== undefined)
      return fileFromUrl(part['image_url'], 'image/*', `${at}[${i}].image_url`)
    if (type === 'input_file' && part['file_id'] === undefined)
      return fileFromUrl(part['file_data'] ?? part['file_url'], 'application/pdf', `${at}[${i}].file_data`)
    if (isLenient) return unknownPart(type)
    throw badField(`${at}[${i}].type`, type, 'input_text, output_text, input_image or input_file')
  })
}

function readReasoning(item: Record<string, unknown>, at: string): PromptPart[] {
  const texts = [item['content'], item['summary']].map((list, i) =>
    list === undefined || list === null
      ? []
      : recordsOf(list, `${at}.${i === 0 ? 'content' : 'summary'}`, 'texts').map(({ text }) => String(text)),
  )
  const text = (texts[0].length > 0 ? texts[0] : texts[1]).join('\n\n')
  return text === '' ? [] : [{ type: 'reasoning', text }]
}

/** The items of one turn of the model stand one by one; a model object expects one message. */
function joinItems(messages: readonly PromptMessage[]): PromptMessage[] {
  const joined: PromptMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (message.role === 'assistant' && last?.role === 'assistant')
      joined[joined.length - 1] = { role: 'assistant', content: [...last.content, ...message.content] }
    else joined.push(message)
  }
  return joinResults(joined)
}

function readTools(given: unknown): NonNullable<CallOptions['tools']>[number][] {
  if (given === undefined || given === null) return []
  return recordsOf(given, 'tools', 'tools').map((tool, i) => {
    const at = `tools[${i}]`
    if (tool['type'] !== 'function')
      throw badField(`${at}.type`, tool['type'], 'function: tools of the service itself do not run here')
    const description = optionalText(tool['description'], `${at}.description`)
    const inputSchema = tool['parameters'] ?? { type: 'object', properties: {} }
    if (!isRecord(inputSchema)) throw badField(`${at}.parameters`, inputSchema, 'a JSON Schema, as an object')
    const name = textField(tool, 'name', at)
    return { type: 'function', name, ...(description !== '' && { description }), inputSchema }
  })
}

function readChoice(choice: unknown, tools: readonly { name: string }[]): CallOptions['toolChoice'] {
  if (choice === undefined || choice === null || choice === 'auto') return { type: 'auto' }
  if (choice === 'none' || choice === 'required') return { type: choice }
  const named = isRecord(choice) && choice['type'] === 'function' ? choice['name'] : undefined
  const found = tools.find(({ name }) => name === named)
  if (found === undefined)
    throw badField('tool_choice', choice, 'none, auto, required, or the name of one of the tools')
  return { type: 'tool', toolName: found.name }
}

function readFormat(text: unknown): unknown {
  const { type, schema } = isRecord(text) && isRecord(text['format']) ? text['format'] : {}
  if (type === undefined || type === 'text') return undefined
  if (type === 'json_object') return { type: 'object' }
  if (type === 'json_schema' && isRecord(schema)) return schema
  throw badField('text.format', type, 'text, json_object, or json_schema with a schema')
}

/** What a response repeats of its request, with what the service would assume. */
function echoOf(body: Json): Json {
  const repeated = {
    instructions: null,
    max_output_tokens: null,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    metadata: {},
  }
  const names = Object.keys(repeated).filter((name) => body[name] !== undefined && body[name] !== null)
  return { ...repeated, ...Object.fromEntries(names.map((name) => [name, body[name]])) }
}

function responseOf(answer: Answer | undefined, head: AnswerHead, echo: Json): Json {
  const { blocks = [], finish, usage } = answer ?? {}
  const reasons: Partial<Record<string, string>> = {
    length: 'max_output_tokens',
    'content-filter': 'content_filter',
  }
  const reason = finish === undefined ? undefined : reasons[finish]
  return {
    id: head.id,
    object: 'response',
    created_at: head.created,
    status: answer === undefined ? 'in_progress' : reason === undefined ? 'completed' : 'incomplete',
    background: false,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: head.model,
    output: blocks.map((block, at) => itemOf(block, itemId(head, at), 'completed')),
    ...echo,
    usage:
      usage === undefined
        ? null
        : {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          },
    user: null,
  }
}

const itemId = ({ id }: AnswerHead, at: number): string => `item_${id.slice(responses.idPrefix.length)}_${at}`

const outputText = (text: string): Json => ({ type: 'output_text', text, annotations: [], logprobs: [] })
const reasoningText = (text: string): Json => ({ type: 'reasoning_text', text })

/** An item of the output; without its text while it is in progress. */
function itemOf(block: Block, id: string, status: 'completed' | 'in_progress'): Json {
  const isDone = status === 'completed'
  if (block.type === 'call') {
    const { id: call_id, name } = block
    return { type: 'function_call', id, status, call_id, name, arguments: isDone ? block.arguments : '' }
  }
  if (block.type === 'reasoning')
    return { type: 'reasoning', id, summary: [], content: isDone ? [reasoningText(block.text)] : [], status }
  return { type: 'message', id, status, role: 'assistant', content: isDone ? [outputText(block.text)] : [] }
}

function writer(head: AnswerHead, { echo }: ProtocolCall): EventWriter {
  const answer: Answer = { blocks: [], finish: 'stop', usage: { input: 0, output: 0 } }
  let count = 0
  /** Items whose end was not sent. */
  const open = new Set<number>()
  const event = (type: string, fields: Json): WireEvent => ({
    name: type,
    data: { type, sequence_number: count++, ...fields },
  })
  const place = (at: number): Json => ({ item_id: itemId(head, at), output_index: at })

  function begin(at: number): WireEvent[] {
    open.add(at)
    const block = answer.blocks[at]
    const item = itemOf(block, itemId(head, at), 'in_progress')
    const added = event('response.output_item.added', { output_index: at, item })
    if (block.type === 'call') return [added]
    const part = block.type === 'text' ? outputText('') : reasoningText('')
    return [added, event('response.content_part.added', { ...place(at), content_index: 0, part })]
  }

  function finish(at: number): WireEvent[] {
    if (!open.delete(at)) return []
    const block = answer.blocks[at]
    const item = itemOf(block, itemId(head, at), 'completed')
    const done = (): WireEvent => event('response.output_item.done', { output_index: at, item })
    if (block.type === 'call') {
      const { name, arguments: written } = block
      return [
        event('response.function_call_arguments.done', { ...place(at), name, arguments: written }),
        done(),
      ]
    }
    const isText = block.type === 'text'
    const where = { ...place(at), content_index: 0 }
    const part = isText ? outputText(block.text) : reasoningText(block.text)
    return [
      event(isText ? 'response.output_text.done' : 'response.reasoning_text.done', {
        ...where,
        text: block.text,
        ...(isText && { logprobs: [] }),
      }),
      event('response.content_part.done', { ...where, part }),
      done(),
    ]
  }

  function deltaOf(part: AnswerPart): WireEvent[] {
    const last = answer.blocks.length - 1
    if (part.type === 'arguments') {
      const at = answer.blocks.findIndex((block) => block.type === 'call' && block.id === part.id)
      return [event('response.function_call_arguments.delta', { ...place(at), delta: part.text })]
    }
    if ((part.type !== 'text' && part.type !== 'reasoning') || part.text === '') return []
    const isText = part.type === 'text'
    return [
      event(isText ? 'response.output_text.delta' : 'response.reasoning_text.delta', {
        ...place(last),
        content_index: 0,
        delta: part.text,
        ...(isText && { logprobs: [] }),
      }),
    ]
  }

  return {
    start() {
      const response = responseOf(undefined, head, echo)
      return [event('response.created', { response }), event('response.in_progress', { response })]
    },
    part(part) {
      const before = answer.blocks.length
      addPart(answer, part)
      const isNew = answer.blocks.length > before
      const isCall = answer.blocks[before - 1]?.type === 'call'
      const ended = isNew && !isCall ? finish(before - 1) : []
      const begun = isNew ? begin(before) : []
      const call = answer.blocks.findIndex(
        (block) => part.type === 'call-end' && block.type === 'call' && block.id === part.id,
      )
      return [...ended, ...begun, ...deltaOf(part), ...(call < 0 ? [] : finish(call))]
    },
    end() {
      const rest = [...open].flatMap((at) => finish(at))
      const response = responseOf(answer, head, echo)
      return [...rest, event(`response.${String(response['status'])}`, { response })]
    },
  }
}
