import { defined } from '../../defined.ts'
import type { CallOptions, PromptPart } from '../agent/ai-sdk/read-call.ts'
import { readChatMessages } from '../serving/openai/chat-messages.ts'
import { readFormat, readToolChoice, readTools } from '../serving/openai/chat-request.ts'
import {
  badField,
  booleanField,
  isRecord,
  type Json,
  numberField,
  openAIError,
  readStop,
  refuseFields,
} from '../serving/openai/protocol.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { Block, Finish, TokenCounts } from './answer.ts'
import {
  type AnswerHead,
  type EventWriter,
  fileFromUrl,
  type Protocol,
  type ProtocolCall,
  readNumbers,
  unknownPart,
} from './protocol.ts'

/** Chat Completions of OpenAI. */
export const chatCompletions: Protocol = {
  path: 'chat/completions',
  idPrefix: 'chatcmpl-',
  read,
  write: (answer, head) => ({
    ...headOf(head, 'chat.completion'),
    choices: [
      { index: 0, message: messageOf(answer.blocks), logprobs: null, finish_reason: finishes[answer.finish] },
    ],
    usage: usageOf(answer.usage),
  }),
  writer,
  error: openAIError,
  errorEvent: (error) => ({ data: openAIError(error) }),
}

function read(body: Json, _earlier: unknown, isLenient = false): ProtocolCall {
  if (!isLenient) refuseFields(body, unknownFields)
  const prompt = readChatMessages(body['messages'], {
    strictArguments: false,
    readFile: (part, at) => readFile(part, at, isLenient),
  })
  const tools = readTools(isLenient ? functionsOf(body['tools']) : body['tools'])
  const n = numberField(body, 'n', { least: 1, whole: true }) ?? 1
  if (n !== 1 && !isLenient) throw badField('n', n, '1: ask several times for several answers')
  const schema = readFormat(body['response_format'])
  const maxOutputTokens =
    numberField(body, 'max_completion_tokens', { least: 1, whole: true }) ??
    numberField(body, 'max_tokens', { least: 1, whole: true })
  const stop = readStop(body['stop'])
  const presencePenalty = numberField(body, 'presence_penalty', { least: -2, most: 2 })
  const frequencyPenalty = numberField(body, 'frequency_penalty', { least: -2, most: 2 })
  const topK = numberField(body, 'top_k', { least: -1, whole: true })
  const streaming = isRecord(body['stream_options']) ? body['stream_options'] : {}
  return {
    model: typeof body['model'] === 'string' ? body['model'] : undefined,
    stream: booleanField(body, 'stream'),
    echo: { includeUsage: booleanField(streaming, 'include_usage', 'stream_options') },
    options: {
      prompt,
      ...toolOptions(tools, body),
      ...readNumbers(body),
      ...(topK !== undefined && topK > 0 && { topK }),
      ...(stop.length > 0 && { stopSequences: stop }),
      ...(schema !== undefined && { responseFormat: { type: 'json' as const, schema } }),
      ...defined({
        maxOutputTokens,
        presencePenalty,
        frequencyPenalty,
        seed: numberField(body, 'seed', { whole: true }),
      }),
      ...openAIOptions(body['reasoning_effort'], body['parallel_tool_calls']),
    },
  }
}

const unknownFields = ['functions', 'function_call', 'audio', 'logprobs', 'top_logprobs', 'logit_bias']

/** Without the tools that a service runs itself, or that take texts. */
export const functionsOf = (tools: unknown): unknown =>
  Array.isArray(tools) ? tools.filter((tool) => isRecord(tool) && tool['type'] === 'function') : tools

function toolOptions(tools: readonly ToolSpec[], body: Json): Pick<CallOptions, 'tools' | 'toolChoice'> {
  if (tools.length === 0) return {}
  const given = body['tool_choice']
  const choice = readToolChoice(given, tools)
  const toolChoice: CallOptions['toolChoice'] =
    typeof choice === 'string'
      ? { type: choice }
      : given === 'required'
        ? { type: 'required' }
        : { type: 'tool', toolName: choice[0].name }
  return { tools: tools.map((tool) => ({ type: 'function', ...tool })), toolChoice }
}

/** Settings that only models of OpenAI know. */
export function openAIOptions(effort: unknown, parallel: unknown): Pick<CallOptions, 'providerOptions'> {
  const openai = {
    ...(typeof effort === 'string' && { reasoningEffort: effort }),
    ...(typeof parallel === 'boolean' && { parallelToolCalls: parallel }),
  }
  return Object.keys(openai).length === 0 ? {} : { providerOptions: { openai } }
}

function readFile(part: unknown, at: string, isLenient: boolean): PromptPart {
  const { type } = isRecord(part) ? part : {}
  const held = isRecord(part) && typeof type === 'string' ? part[type] : undefined
  if (type === 'image_url' && isRecord(held))
    return fileFromUrl(held['url'], 'image/*', `${at}.image_url.url`)
  if (type === 'file' && isRecord(held))
    return fileFromUrl(held['file_data'], 'application/pdf', `${at}.file.file_data`)
  if (type === 'input_audio' && isRecord(held) && typeof held['data'] === 'string')
    return {
      type: 'file',
      mediaType: held['format'] === 'mp3' ? 'audio/mpeg' : 'audio/wav',
      data: held['data'],
    }
  if (isLenient) return unknownPart(type)
  throw badField(at, part, 'a part of type text, image_url, input_audio, or file with its data')
}

const finishes: Record<Finish, string> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
}

const headOf = ({ id, created, model }: AnswerHead, object: string): Json => ({ id, object, created, model })

function usageOf({ input, output }: TokenCounts): Json {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}

function messageOf(blocks: readonly Block[]): Json {
  const joined = (type: 'text' | 'reasoning'): string =>
    blocks.map((block) => (block.type === type ? block.text : '')).join('')
  const calls = blocks.flatMap((block) =>
    block.type === 'call'
      ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: block.arguments } }]
      : [],
  )
  const [text, reasoning] = [joined('text'), joined('reasoning')]
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function writer(head: AnswerHead, { echo }: ProtocolCall): EventWriter {
  const fields = headOf(head, 'chat.completion.chunk')
  const indexes = new Map<string, number>()
  let usage: TokenCounts | undefined
  const chunk = (delta: Json, finish: string | null = null): { data: unknown } => ({
    data: { ...fields, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
  })
  const callDelta = (id: string, call: Json): { data: unknown } =>
    chunk({ tool_calls: [{ index: indexes.get(id), ...call }] })
  return {
    start: () => [chunk({ role: 'assistant', content: '' })],
    part(part) {
      if (part.type === 'text') return [chunk({ content: part.text })]
      if (part.type === 'reasoning') return part.text === '' ? [] : [chunk({ reasoning_content: part.text })]
      if (part.type === 'call') {
        indexes.set(part.id, indexes.size)
        return [
          callDelta(part.id, { id: part.id, type: 'function', function: { name: part.name, arguments: '' } }),
        ]
      }
      if (part.type === 'arguments') return [callDelta(part.id, { function: { arguments: part.text } })]
      if (part.type === 'call-end') return []
      usage = part.usage
      return [chunk({}, finishes[part.finish])]
    },
    end: () => [
      ...(echo['includeUsage'] === true && usage !== undefined
        ? [{ data: { ...fields, choices: [], usage: usageOf(usage) } }]
        : []),
      { data: '[DONE]' },
    ],
  }
}
