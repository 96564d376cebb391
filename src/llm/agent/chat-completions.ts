import { defined } from '../../defined.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import type { EpisodeNode } from '../episode/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { type BareCall, parseCalls, type ParsedOutput, readArguments } from './parse-calls.ts'

interface ChatCompletionMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** Tool definitions in OpenAI's format. */
export function toFunctionTools(specs: readonly ToolSpec[]): unknown[] {
  return specs.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, ...defined({ description }), parameters: inputSchema },
  }))
}

function wireId(id: string): string {
  return `call_${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`
}

/**
 * The episode's nodes as a conversation. A `tool` message answers every call of an assistant message, as endpoints require. The
 * reply to an invalid call is sent as a user message.
 */
export function toMessages(nodes: readonly EpisodeNode[]): ChatCompletionMessage[] {
  let open = new Set<string>()
  return nodes.map((node) => {
    if (node.role === 'assistant') {
      open = new Set(node.calls?.map((call) => call.id))
      const calls = node.calls?.map((call) => ({
        id: wireId(call.id),
        type: 'function' as const,
        function: { name: call.name, arguments: JSON.stringify(call.arguments) },
      }))
      return calls === undefined
        ? { role: 'assistant', content: node.text }
        : { role: 'assistant', content: node.text === '' ? null : node.text, tool_calls: calls }
    }
    if (node.role === 'tool') {
      return node.callId !== undefined && open.delete(node.callId)
        ? { role: 'tool', content: node.text, tool_call_id: wireId(node.callId) }
        : { role: 'user', content: node.text }
    }
    return { role: node.role, content: node.text }
  })
}

/** Tokens that an endpoint counted. */
export interface CompletionUsage {
  promptTokens: number
  sampledTokens: number
}

export type Completion = ParsedOutput & CompletionUsage & { finish: 'stop' | 'length' }

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads a chat completion: native tool calls, or else calls written in the text. Returns undefined if the body is not a chat
 * completion.
 */
export function readCompletion(body: unknown): Completion | undefined {
  const choice: unknown = isRecord(body) && Array.isArray(body.choices) ? body.choices[0] : undefined
  if (!isRecord(body) || !isRecord(choice) || !isRecord(choice.message)) return undefined
  // Gateways report a provider that failed during its answer like this. The partial message is not the model's output.
  if (isRecord(choice.error) || choice.finish_reason === 'error') return undefined
  const { content, tool_calls: native } = choice.message
  const text = textOf(content)
  const usage = isRecord(body.usage) ? body.usage : {}
  return {
    ...(Array.isArray(native) && native.length > 0
      ? readNative(text, native)
      : parseCalls(text, { repair: true })),
    finish: choice.finish_reason === 'length' ? 'length' : 'stop',
    promptTokens: countOf(usage.prompt_tokens),
    sampledTokens: countOf(usage.completion_tokens),
  }
}

/** Some gateways write counts as texts. */
function countOf(given: unknown): number {
  const count = typeof given === 'number' || typeof given === 'string' ? Number(given) : 0
  return Number.isFinite(count) ? count : 0
}

/** Reads content given as one string or as a list of parts; keeps the parts of type `text`. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : ''
  return content
    .map((part: unknown) =>
      isRecord(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : '',
    )
    .join('')
}

function readNative(text: string, native: unknown[]): ParsedOutput {
  const calls: BareCall[] = []
  for (const item of native) {
    const called = isRecord(item) ? item.function : undefined
    if (!isRecord(called) || typeof called.name !== 'string')
      return { text, calls: [], invalid: 'the call has no name' }
    const given = called.arguments
    const read = isRecord(given) ? given : readArguments(typeof given === 'string' ? given : '', true)
    if (read === undefined) {
      // The text returns to the conversation, so that the model can see its mistake.
      const shown = typeof given === 'string' ? given : JSON.stringify(given)
      const said = [text, `${called.name}(${shown})`].filter(Boolean).join('\n')
      return { text: said, calls: [], invalid: 'the arguments are not a JSON object' }
    }
    calls.push({ name: called.name, arguments: read })
  }
  return { text, calls }
}

/** Sampling settings of a request, by their names in the protocol. */
type SamplingParameters = Readonly<Record<string, number>>

/** Request parameters, without those that the model refused. */
interface EndpointParameters {
  /** The parameters of the next request. */
  current(): SamplingParameters
  /**
   * Drops the parameter that a refusal is about from this and all later requests. Returns true if the request should be sent
   * again, and false if the refusal names no parameter that was `sent`.
   */
  concede(status: number, answer: string, sent: SamplingParameters): boolean
}

/** Maximum length of a refusal to search and quote; some quote the whole request. */
const quoted = 500

/**
 * Models differ in the parameters they accept: reasoning models refuse a temperature and rename `max_tokens`.
 *
 * @param notice called once for every dropped parameter.
 */
export function createEndpointParameters(
  asked: SamplingParameters,
  notice: (text: string) => void,
): EndpointParameters {
  let current = asked
  return {
    current: () => current,
    concede(status, answer, sent) {
      if (status !== 400 && status !== 422) return false
      const words = refusalText(answer).slice(0, quoted)
      const refused = namedParameter(answer, words, Object.keys(sent))
      if (refused === undefined) return false
      // Of several concurrent requests, the first refusal decides for all.
      if (!(refused in current)) return true
      const { [refused]: value, ...rest } = current
      const renamed = refused === 'max_tokens'
      current = renamed ? { ...rest, max_completion_tokens: value } : rest
      notice(
        `${renamed ? '"max_tokens" is sent as "max_completion_tokens"' : `"${refused}" is no longer sent`}, since the model refused it: ${words}`,
      )
      return true
    },
  }
}

/** The parameter that a refusal is about: the one in its fields, or else the first in its text. */
function namedParameter(answer: string, words: string, sent: readonly string[]): string | undefined {
  const field = parameterField(parse(answer))
  if (field !== undefined) return sent.find((name) => name === field)
  const at = (name: string): number =>
    new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`).exec(words)?.index ?? Infinity
  const [first] = sent.toSorted((a, b) => at(a) - at(b))
  return first !== undefined && at(first) < Infinity ? first : undefined
}

/** `error.param` of OpenAI, or `detail[0].loc` of servers on FastAPI. */
function parameterField(answer: unknown): string | undefined {
  const named = member(member(answer, 'error'), 'param') ?? member(answer, 'param')
  if (typeof named === 'string') return named
  const detail = member(answer, 'detail')
  const location = member(Array.isArray(detail) ? detail[0] : undefined, 'loc')
  const last: unknown = Array.isArray(location) ? location.at(-1) : undefined
  return typeof last === 'string' ? last : undefined
}

function refusalText(answer: string): string {
  const body = parse(answer)
  const said = [
    member(member(body, 'error'), 'message'),
    member(body, 'message'),
    member(body, 'detail'),
    member(body, 'error'),
  ]
  return said.find((text) => typeof text === 'string') ?? answer
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function parse(text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}
