import type { EpisodeNode } from '../episode/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { parseCalls, readArguments } from './parse-calls.ts'
import type { BareCall, ParsedOutput } from './parse-calls.ts'

export interface ChatCompletionMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | null
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

/** Tools as OpenAI's protocol names them. */
export function toFunctionTools(specs: readonly ToolSpec[]): unknown[] {
  return specs.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, ...(description === undefined ? {} : { description }), parameters: inputSchema },
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

export interface CompletionUsage {
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
