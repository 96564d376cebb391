import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { Grammar } from '../../grammar/compile.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import type { ChatFormat, ConversationMessage } from '../chat-format/types.ts'

/**
 * The parts of `LanguageModelV3` (`@ai-sdk/provider` 3) used here. They are declared here so that the AI SDK need not be
 * installed. A test compares them with the package.
 */
export interface LanguageModel {
  readonly specificationVersion: 'v3'
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(options: CallOptions): Promise<GenerateResult>
  doStream(options: CallOptions): Promise<{ stream: ReadableStream<StreamPart> }>
}

export interface CallOptions {
  prompt: readonly PromptMessage[]
  maxOutputTokens?: number | undefined
  temperature?: number | undefined
  stopSequences?: string[] | undefined
  topP?: number | undefined
  topK?: number | undefined
  presencePenalty?: number | undefined
  frequencyPenalty?: number | undefined
  responseFormat?: { type: 'text' } | { type: 'json'; schema?: unknown } | undefined
  seed?: number | undefined
  tools?: readonly CallTool[] | undefined
  toolChoice?: { type: 'auto' | 'none' | 'required' } | { type: 'tool'; toolName: string } | undefined
  abortSignal?: AbortSignal | undefined
  /** Settings that only some providers know, by provider. */
  providerOptions?: Record<string, Record<string, unknown>> | undefined
}

/** A function of the user's program, or (type `provider`) a tool that the service itself runs. */
export interface CallTool {
  type: string
  name: string
  description?: string | undefined
  inputSchema?: unknown
}

export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user' | 'assistant' | 'tool'; content: readonly PromptPart[] }

export interface PromptPart {
  type: string
  text?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  output?: unknown
  mediaType?: string
  /** Of a file: base64, or its address. */
  data?: unknown
  providerOptions?: Record<string, Record<string, unknown>>
}

export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }

interface FinishReason {
  unified: 'stop' | 'length' | 'tool-calls'
  raw: string
}

interface Usage {
  inputTokens: { total: number; noCache: undefined; cacheRead: undefined; cacheWrite: undefined }
  outputTokens: { total: number; text: undefined; reasoning: undefined }
}

/** Fields for a trainer in `providerMetadata.agoge`. */
export interface TokenMetadata {
  promptTokenIds: number[]
  tokenIds: number[]
  /** Natural-log probabilities, one per token of `tokenIds`. */
  logprobs: number[]
  weightVersion: number
}

type Metadata = { agoge: { [Field in keyof TokenMetadata]: TokenMetadata[Field] } }

type Warning = { type: 'unsupported'; feature: string; details?: string }

export interface GenerateResult {
  content: ContentPart[]
  finishReason: FinishReason
  usage: Usage
  providerMetadata: Metadata
  response: { id: string; timestamp: Date; modelId: string }
  warnings: Warning[]
}

export type StreamPart =
  | { type: 'stream-start'; warnings: Warning[] }
  | { type: 'response-metadata'; id: string; timestamp: Date; modelId: string }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | { type: 'finish'; finishReason: FinishReason; usage: Usage; providerMetadata: Metadata }
  | { type: 'error'; error: unknown }

/** A call of a model object in terms of a chat format. */
export interface ModelCall {
  messages: ConversationMessage[]
  tools: ToolSpec[]
  /** Grammar of the allowed output. */
  grammar?: Grammar
  settings: {
    maxTokens?: number
    temperature?: number
    topP?: number
    topK?: number
    seed?: number
    stop: readonly string[]
  }
  signal?: AbortSignal
  warnings: Warning[]
}

/**
 * Reads the options of `doGenerate` and `doStream`. Options without effect become warnings. @throws if the prompt contains
 * files.
 */
export function readCall(options: CallOptions, format: ChatFormat): ModelCall {
  const { maxOutputTokens, temperature, topP, topK, seed, stopSequences, abortSignal } = options
  const warnings: Warning[] = []
  for (const feature of ['presencePenalty', 'frequencyPenalty'] as const)
    if (options[feature] !== undefined && options[feature] !== 0)
      warnings.push({ type: 'unsupported', feature })
  for (const { type, name } of options.tools ?? [])
    if (type !== 'function')
      warnings.push({
        type: 'unsupported',
        feature: `tool ${name}`,
        details: 'tools that a service runs itself',
      })
  const tools = functionTools(options)
  const offered = options.toolChoice?.type === 'none' ? [] : tools
  const grammar = grammarOf(options, offered, format)
  return {
    messages: options.prompt.flatMap((message) => readMessage(message, refuseFile)),
    tools: offered,
    ...defined({ grammar }),
    settings: {
      ...defined({ maxTokens: maxOutputTokens, temperature, topP, topK, seed }),
      stop: stopSequences ?? [],
    },
    ...defined({ signal: abortSignal }),
    warnings,
  }
}

/** The messages and the function tools of a call to any model, for the record. A file becomes its media type in brackets. */
export function readConversation(options: Pick<CallOptions, 'prompt' | 'tools'>): {
  messages: ConversationMessage[]
  tools: ToolSpec[]
} {
  const named = ({ mediaType, type }: PromptPart): string => `(${mediaType ?? type})`
  return {
    messages: options.prompt.flatMap((message) => readMessage(message, named)),
    tools: functionTools(options),
  }
}

function functionTools({ tools = [] }: Pick<CallOptions, 'tools'>): ToolSpec[] {
  return tools
    .filter(({ type }) => type === 'function')
    .map(({ name, description, inputSchema }) => ({
      name,
      ...defined({ description }),
      inputSchema: inputSchema as ToolSpec['inputSchema'],
    }))
}

function refuseFile({ mediaType, type }: PromptPart): never {
  throw new AgogeError('This model reads only text.', {
    code: 'unsupported-content',
    given: mediaType ?? type,
    expected: 'parts of type text',
  })
}

function grammarOf(
  { toolChoice, responseFormat }: CallOptions,
  tools: readonly ToolSpec[],
  format: ChatFormat,
): Grammar | undefined {
  if (toolChoice?.type === 'required' && tools.length > 0) return format.callGrammar(tools)
  if (toolChoice?.type === 'tool')
    return format.callGrammar(tools.filter(({ name }) => name === toolChoice.toolName))
  if (responseFormat?.type !== 'json') return undefined
  const { schema = { type: 'object' } } = responseFormat
  return { schema: schema as { [key: string]: unknown }, spaces: true }
}

function readMessage(message: PromptMessage, fileText: (part: PromptPart) => string): ConversationMessage[] {
  if (message.role === 'system') return [{ role: 'system', text: message.content }]
  if (message.role === 'tool')
    return message.content.filter(({ type }) => type === 'tool-result').map(readToolResult)
  if (message.role === 'user') {
    const text = message.content.map((part) => (part.type === 'text' ? (part.text ?? '') : fileText(part)))
    return [{ role: 'user', text: text.join('') }]
  }
  const text = textOf(message.content, 'text')
  const reasoning = textOf(message.content, 'reasoning')
  const calls = message.content.flatMap(({ type, toolCallId = '', toolName = '', input }) =>
    type === 'tool-call'
      ? // A model may have written something else.
        [{ id: toolCallId, name: toolName, arguments: isRecord(input) ? input : {} }]
      : [],
  )
  return [
    {
      role: 'assistant',
      text,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(calls.length === 0 ? {} : { calls }),
    },
  ]
}

function textOf(parts: readonly PromptPart[], type: string): string {
  return parts.map((part) => (part.type === type ? (part.text ?? '') : '')).join('')
}

function readToolResult({ toolCallId = '', output }: PromptPart): ConversationMessage {
  const { type, value, reason } = output as { type: string; value?: unknown; reason?: string }
  const isError = type.startsWith('error') || type === 'execution-denied'
  return {
    role: 'tool',
    text: resultText(type, value, reason),
    callId: toolCallId,
    ...(isError ? { isError } : {}),
  }
}

function resultText(type: string, value: unknown, reason: string | undefined): string {
  if (type === 'execution-denied') return `error: ${reason ?? 'the call was not allowed'}`
  if (type === 'content' && Array.isArray(value))
    return (value as PromptPart[]).map(({ text, type: kind }) => text ?? `(${kind})`).join('\n')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return type.startsWith('error') ? `error: ${text}` : text
}
