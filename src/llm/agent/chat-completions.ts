import { defined } from '../../defined.ts'
import type { EpisodeNode } from '../episode/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { type BareCall, parseCalls, type ParsedOutput, readArguments } from './parse-calls.ts'

interface ChatCompletionMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** Tools as OpenAI's protocol names them. */
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
 * The episode's nodes as a conversation. Every call of an assistant message is answered by a `tool` message, as
 * endpoints demand; the answer to an attempt that could not be read goes back as the user's.
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

interface CompletionUsage {
  promptTokens: number
  sampledTokens: number
}

export type Completion = ParsedOutput & CompletionUsage & { finish: 'stop' | 'length' }

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads a chat completion: native tool calls, else calls written into the text. Returns undefined where the body is
 * no chat completion.
 */
export function readCompletion(body: unknown): Completion | undefined {
  const choice: unknown = isRecord(body) && Array.isArray(body.choices) ? body.choices[0] : undefined
  if (!isRecord(body) || !isRecord(choice) || !isRecord(choice.message)) return undefined
  // Gateways so report a provider that broke while it answered; what there is of the message is not the model's word.
  if (isRecord(choice.error) || choice.finish_reason === 'error') return undefined
  const { content, tool_calls: native } = choice.message
  const text = textOf(content)
  const usage = isRecord(body.usage) ? body.usage : {}
  return {
    ...(Array.isArray(native) && native.length > 0
      ? readNative(text, native)
      : parseCalls(text, { repair: true })),
    finish: choice.finish_reason === 'length' ? 'length' : 'stop',
    promptTokens: Number(usage.prompt_tokens ?? 0) || 0,
    sampledTokens: Number(usage.completion_tokens ?? 0) || 0,
  }
}

/** Content as one text, or as a list of parts, of which those of the type `text` are said aloud. */
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
      // The words go back into the conversation, else the model could not see what was wrong.
      const said = [text, `${called.name}(${String(given)})`].filter(Boolean).join('\n')
      return { text: said, calls: [], invalid: 'the arguments are not a JSON object' }
    }
    calls.push({ name: called.name, arguments: read })
  }
  return { text, calls }
}

/** Settings of sampling as they stand in a request, by their names in the protocol. */
type SamplingParameters = Readonly<Record<string, number>>

/** What is asked of an endpoint, less what its model refuses. */
interface EndpointParameters {
  /** What the next request says. */
  current(): SamplingParameters
  /**
   * Takes back what a refused request said too much of, for this and all later requests: the request is to be sent again. False where
   * the refusal names nothing that was `sent`.
   */
  concede(status: number, answer: string, sent: SamplingParameters): boolean
}

/** Longest part of a refusal that is looked at and quoted: some quote the request. */
const quoted = 500

/**
 * Models differ in what they let be chosen: reasoning models refuse a temperature, and call `max_tokens` by another name.
 *
 * @param notice told once of every parameter that is given up.
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
      // Of several requests at a time, the first to be refused speaks for all.
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

/** The parameter that a refusal is about: the one that its fields name, else the first that its words do. */
function namedParameter(answer: string, words: string, sent: readonly string[]): string | undefined {
  const field = parameterField(parse(answer))
  if (field !== undefined) return sent.find((name) => name === field)
  const at = (name: string): number =>
    new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`).exec(words)?.index ?? Infinity
  const [first] = sent.toSorted((a, b) => at(a) - at(b))
  return first !== undefined && at(first) < Infinity ? first : undefined
}

/** `error.param` as of OpenAI, `detail[0].loc` as of servers on FastAPI. */
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
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
