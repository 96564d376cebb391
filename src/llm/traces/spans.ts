import { defined } from '../../defined.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { readConversation, readTools, resultText, structured, UnreadableMessage } from './messages.ts'
import { type Attributes, nested, type OtlpEvent, type OtlpSpan } from './otlp.ts'

/** A call of a model. */
export interface TracedCall {
  kind: 'call'
  messages: ConversationMessage[]
  /** Several if choices were asked for; none if the call failed. */
  answers: ConversationMessage[]
  tools: ToolSpec[]
  tokens: { input: number; output: number }
  model?: string
  temperature?: number
  /** True if the answer was cut off by the limit of its tokens. */
  isCut: boolean
}

/** The work of a tool. */
export interface TracedTool {
  kind: 'tool'
  callId: string
  name: string
  /** Undefined if the trace does not hold it. */
  result?: string
  isError: boolean
}

/** The work of an agent, within which calls are its own. */
export interface TracedAgent {
  kind: 'agent'
  name?: string
  /** Of all calls within it, if the span counts them. */
  tokens: TracedCall['tokens']
}

/** What a span is in a conversation. A call whose messages were not recorded, or cannot be read, has a problem instead. */
export type TracedWork = TracedCall | TracedTool | TracedAgent | { kind: 'problem'; problem: string }

/**
 * What a span says about an agent: by OpenTelemetry's GenAI conventions (of today, and their events of before), the telemetry of the AI
 * SDK, OpenLLMetry's numbered attributes, or OpenInference. Undefined if it is something else.
 */
export function readWork(span: OtlpSpan): TracedWork | undefined {
  const { attributes } = span
  const kind = kindOf(span)
  if (kind === 'agent') {
    const name =
      attributes['gen_ai.agent.name'] ?? attributes['agent.name'] ?? attributes['ai.telemetry.functionId']
    return { kind, tokens: tokensOf(attributes), ...(typeof name === 'string' && name !== '' && { name }) }
  }
  if (kind === 'tool') return readTool(span)
  return kind === 'call' ? readCall(span) : undefined
}

function kindOf({ attributes, events }: OtlpSpan): 'call' | 'tool' | 'agent' | undefined {
  const operation = attributes['gen_ai.operation.name']
  if (operation === 'execute_tool') return 'tool'
  if (operation === 'invoke_agent' || operation === 'invoke_workflow') return 'agent'
  if (['chat', 'text_completion', 'generate_content'].includes(operation as string)) return 'call'
  const { 'ai.operationId': given } = attributes
  const ai = typeof given === 'string' ? given : ''
  if (/\.do(?:Generate|Stream)$/.test(ai)) return 'call'
  if (ai === 'ai.toolCall') return 'tool'
  if (/^ai\.(?:generate|stream)(?:Text|Object)$/.test(ai)) return 'agent'
  const inference = attributes['openinference.span.kind'] ?? attributes['traceloop.span.kind']
  if (typeof inference === 'string') {
    const known = ({ llm: 'call', tool: 'tool', agent: 'agent', workflow: 'agent' } as const)[
      inference.toLowerCase()
    ]
    if (known !== undefined) return known
  }
  if (operation !== undefined) return undefined
  const isChat =
    'gen_ai.prompt' in attributes ||
    'gen_ai.prompt.0.role' in attributes ||
    'gen_ai.input.messages' in attributes ||
    events.some(({ name }) => /^gen_ai\.(?:user\.message|choice|content\.prompt)$/.test(name))
  return isChat ? 'call' : undefined
}

function readTool({ attributes: of, error, name: spanName }: OtlpSpan): TracedTool {
  const callId = of['gen_ai.tool.call.id'] ?? of['ai.toolCall.id'] ?? of['tool_call.id'] ?? ''
  const name = of['gen_ai.tool.name'] ?? of['ai.toolCall.name'] ?? of['tool.name'] ?? spanName
  const given = of['gen_ai.tool.call.result'] ?? of['ai.toolCall.result'] ?? of['output.value'] ?? error
  const result = given === undefined ? undefined : resultText(unquoted(given)).text
  return {
    kind: 'tool',
    callId: typeof callId === 'string' ? callId : '',
    name: typeof name === 'string' ? name : spanName,
    isError: error !== undefined,
    ...defined({ result }),
  }
}

/** A result that was written as JSON, a text too. */
function unquoted(given: unknown): unknown {
  const isText = typeof given === 'string' && /^".*"$/s.test(given)
  const [text] = isText ? (structured(`[${given}]`) as unknown[]) : []
  return typeof text === 'string' ? text : structured(given)
}

function readCall(span: OtlpSpan): TracedWork {
  const { attributes: of } = span
  const { prompt, answer } = contentOf(span)
  if (prompt.length === 0)
    return {
      kind: 'problem',
      problem: 'the messages of a call were not recorded (instrumentations leave them out by default)',
    }
  try {
    const { messages, answers } = readConversation(prompt, answer)
    const model = of['gen_ai.request.model'] ?? of['gen_ai.response.model'] ?? of['llm.model_name']
    const temperature = of['gen_ai.request.temperature']
    const reasons = structured(of['gen_ai.response.finish_reasons'] ?? of['ai.response.finishReason'])
    return {
      kind: 'call',
      messages,
      answers,
      tools: readTools(
        of['gen_ai.tool.definitions'] ??
          of['ai.prompt.tools'] ??
          nested(of, 'llm.request.functions') ??
          inferenceTools(of),
      ),
      tokens: tokensOf(of),
      ...(typeof model === 'string' && { model }),
      ...(typeof temperature === 'number' && { temperature }),
      isCut: [reasons].flat().some((reason) => reason === 'length' || reason === 'max_tokens'),
    }
  } catch (error) {
    if (error instanceof UnreadableMessage || error instanceof RangeError)
      return { kind: 'problem', problem: error.message }
    throw error
  }
}

const numberOf = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0)

function tokensOf(of: Attributes): TracedCall['tokens'] {
  const input =
    of['gen_ai.usage.input_tokens'] ?? of['gen_ai.usage.prompt_tokens'] ?? of['llm.token_count.prompt']
  const output =
    of['gen_ai.usage.output_tokens'] ??
    of['gen_ai.usage.completion_tokens'] ??
    of['llm.token_count.completion']
  return { input: numberOf(input), output: numberOf(output) }
}

interface Content {
  prompt: unknown[]
  answer: unknown[]
}

/** The messages of a call as they were written. The first form of which there is something counts. */
function contentOf(span: OtlpSpan): Content {
  const forms = [conventions, aiSdk, events, promptAndCompletion, inference]
  for (const form of forms) {
    const content = form(span)
    if (content.prompt.length > 0) return content
  }
  return { prompt: [], answer: [] }
}

/** A list; one message alone; or a text, which is what the user said, or what the model said. */
function listOf(given: unknown, role: 'system' | 'user' | 'assistant'): unknown[] {
  const value = structured(given)
  if (value === undefined || value === null || value === '') return []
  if (typeof value === 'string') return [{ role, content: value }]
  return Array.isArray(value) ? value : [value]
}

/** Attributes of the span, or of the event with the details of an inference. */
function conventions({ attributes, events: given }: OtlpSpan): Content {
  const details = given.find(({ name }) => name === 'gen_ai.client.inference.operation.details')
  const of: Attributes = {
    ...details?.attributes,
    ...(isRecord(details?.body) ? details.body : {}),
    ...attributes,
  }
  const instructions = listOf(of['gen_ai.system_instructions'], 'system')
  const input = listOf(of['gen_ai.input.messages'], 'user')
  const isMessage = (one: unknown): boolean => isRecord(one) && 'role' in one
  const system = instructions.every(isMessage) ? instructions : [{ role: 'system', parts: instructions }]
  return {
    prompt: input.length === 0 ? [] : [...system, ...input],
    answer: listOf(of['gen_ai.output.messages'], 'assistant'),
  }
}

function aiSdk({ attributes: of }: OtlpSpan): Content {
  const calls = listOf(of['ai.response.toolCalls'], 'assistant').filter(isRecord)
  const text = of['ai.response.text'] ?? of['ai.response.object']
  const parts = [
    ...(typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []),
    ...calls.map((call) => ({ type: 'tool-call', ...call })),
  ]
  return {
    prompt: listOf(of['ai.prompt.messages'], 'user'),
    answer: parts.length === 0 && text === undefined ? [] : [{ role: 'assistant', content: parts }],
  }
}

/** Events of one message each, as the conventions had them up to version 1.36. */
function events({ events: given }: OtlpSpan): Content {
  const prompt: unknown[] = []
  const answer: unknown[] = []
  for (const event of given) {
    const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(event.name)?.[1]
    const content = bodyOf(event)
    if (role !== undefined) prompt.push({ role, ...content })
    else if (event.name === 'gen_ai.choice') {
      const message = structured(content['message'])
      answer.push({
        role: 'assistant',
        ...(isRecord(message) ? message : { content: message ?? content['content'] }),
      })
    } else if (event.name === 'gen_ai.content.prompt')
      prompt.push(...listOf(event.attributes['gen_ai.prompt'], 'user'))
    else if (event.name === 'gen_ai.content.completion')
      answer.push(...listOf(event.attributes['gen_ai.completion'], 'assistant'))
  }
  return { prompt, answer }
}

/** The body of a log record; of an event of a span its attribute with the content, or its attributes. */
function bodyOf({ body, attributes }: OtlpEvent): Attributes {
  const given = structured(body) ?? structured(attributes['gen_ai.event.content'])
  if (isRecord(given)) return given
  if (typeof given === 'string') return { content: given }
  const { tool_calls: calls, ...others } = attributes
  return calls === undefined ? others : { ...others, tool_calls: structured(calls) }
}

/** `gen_ai.prompt` and `gen_ai.completion`: texts or JSON, or numbered attributes as OpenLLMetry writes them. */
function promptAndCompletion({ attributes: of }: OtlpSpan): Content {
  const numbered = nested(of, 'gen_ai.prompt')
  const completion = nested(of, 'gen_ai.completion')
  const messages = (value: unknown, role: 'user' | 'assistant'): unknown[] =>
    (Array.isArray(value) ? value : []).map((one) =>
      isRecord(one) ? { role, ...one, content: structured(one['content']) } : one,
    )
  return {
    prompt: [...messages(numbered, 'user'), ...listOf(of['gen_ai.prompt'], 'user')],
    answer: [...messages(completion, 'assistant'), ...listOf(of['gen_ai.completion'], 'assistant')],
  }
}

/** OpenInference numbers messages, and wraps each as `message`. */
function inference({ attributes: of }: OtlpSpan): Content {
  const messages = (prefix: string): unknown[] => {
    const list = nested(of, prefix)
    return (Array.isArray(list) ? list : []).flatMap((one) =>
      isRecord(one) && isRecord(one['message']) ? [inferenceMessage(one['message'])] : [],
    )
  }
  return { prompt: messages('llm.input_messages'), answer: messages('llm.output_messages') }
}

function inferenceMessage(message: Attributes): Attributes {
  const { contents } = message
  if (!Array.isArray(contents)) return message
  return {
    ...message,
    contents: contents.map((one) => {
      const content = isRecord(one) && isRecord(one['message_content']) ? one['message_content'] : {}
      return { type: content['type'], text: content['text'] }
    }),
  }
}

function inferenceTools(of: Attributes): unknown[] {
  const list = nested(of, 'llm.tools')
  return (Array.isArray(list) ? list : []).flatMap((one) => {
    const tool = isRecord(one) && isRecord(one['tool']) ? one['tool'] : {}
    const schema = structured(tool['json_schema'])
    return isRecord(schema)
      ? [{ ...defined({ name: tool['name'], description: tool['description'] }), ...schema }]
      : []
  })
}
