import { defined } from '../../defined.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import { type CallOptions, readConversation } from '../agent/ai-sdk/read-call.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { Episode, ToolCall } from '../episode/types.ts'
import { createRecorder } from '../rollout/agents/recorder.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { TokenCounts } from './answer.ts'
import type { Conversation } from './sessions.ts'

/** What a call gave, in the form of all versions of the AI SDK. */
export interface CallResult {
  /** Texts, reasoning and tool calls, as model objects return them. */
  content: readonly { type: string; [field: string]: unknown }[]
  tokens: TokenCounts | undefined
}

/** Calls as the tree of an episode, and their sums. */
export interface RecordedTexts {
  add: (call: TextCall) => void
  nodes: Episode['nodes']
  samples: Episode['samples']
  usage: Episode['usage']
  /** Calls of the model. */
  count: () => number
}

/** A call of a model that gives no tokens. */
export interface TextCall {
  messages: readonly ConversationMessage[]
  tools: readonly ToolSpec[]
  message: ConversationMessage
  /** What is wrong with its tool calls. */
  problems: readonly string[]
  tokens: { input: number; output: number } | undefined
  temperature: number | undefined
  /** Who asked. Default: `agent`. */
  agent?: string | undefined
}

/** Records calls of models that give no tokens: the nodes of the tree have texts only, and cannot be trained on. */
export function recordTexts(): RecordedTexts {
  const recorder = createRecorder({
    open: (messages) => ({ ...noWindow, messages: messages.length }),
    follow: (_window, _output, messages) => ({ ...noWindow, messages: messages.length }),
  })
  const { nodes, samples } = recorder.record
  const usage = { promptTokens: 0, sampledTokens: 0, calls: 0, invalidCalls: 0 }
  let count = 0
  return {
    nodes,
    samples,
    usage,
    count: () => count,
    add({ messages, tools, message, problems, tokens, temperature = 1, agent }) {
      recorder.answered(recorder.place(messages, tools), {
        message,
        invalid: problems[0],
        output: none,
        logprobs: new Float32Array(0),
        weightVersion: 0,
        sampling: { temperature },
        trainable: false,
        ...defined({ agent }),
      })
      count += 1
      usage.promptTokens += tokens?.input ?? 0
      usage.sampledTokens += tokens?.output ?? 0
      usage.calls += message.calls?.length ?? 0
      usage.invalidCalls += problems.length
    },
  }
}

/** The calls of a trial; see `recordTexts`. */
export interface RecordedCalls extends Omit<RecordedTexts, 'add'> {
  onCall: (options: CallOptions, result: CallResult) => void
}

const none = new Int32Array(0)
const noWindow = { tokens: none, text: '' }

/**
 * Records the calls of model objects of the AI SDK.
 *
 * @param restored the messages of a call, with what its client left out. Default: as they are
 */
export function recordCalls(
  restored: (conversation: Conversation) => readonly ConversationMessage[] = ({ messages }) => messages,
): RecordedCalls {
  const { add, ...recorded } = recordTexts()
  return {
    ...recorded,
    onCall(options, { content, tokens }) {
      const { messages, tools } = readConversation(options)
      const { temperature } = options
      const shown = restored({ messages, tools })
      add({ messages: shown, tools, ...readContent(content, tools), tokens, temperature })
    },
  }
}

interface WrittenCall {
  toolCallId: string
  toolName: string
  /** JSON, as the model wrote it. */
  input: unknown
}

/** The message of an answer, and for each call that does not fit its tool the first problem. */
export function readContent(
  content: CallResult['content'],
  tools: readonly ToolSpec[],
): { message: ConversationMessage; problems: string[] } {
  const textOf = (type: string): string =>
    content.map(({ type: kind, text }) => (kind === type && typeof text === 'string' ? text : '')).join('')
  const problems: string[] = []
  const calls = content.flatMap((part): ToolCall[] => {
    if (part.type !== 'tool-call') return []
    const { toolCallId, toolName, input } = part as unknown as WrittenCall
    const read = readInput(input)
    const problem = problemOfCall(toolName, read, tools)
    if (problem !== undefined) problems.push(problem)
    return [{ id: toolCallId, name: toolName, arguments: read ?? {} }]
  })
  const [text, reasoning] = [textOf('text'), textOf('reasoning')]
  return {
    message: {
      role: 'assistant',
      text,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(calls.length === 0 ? {} : { calls }),
    },
    problems,
  }
}

/** What is wrong with a tool call; undefined if it fits its tool. */
export function problemOfCall(
  name: string,
  args: Record<string, unknown> | undefined,
  tools: readonly ToolSpec[],
): string | undefined {
  const spec = tools.find((one) => one.name === name)
  if (spec === undefined) return `there is no tool "${name}"`
  if (args === undefined) return `the arguments of ${name} are no JSON object`
  return validateArguments(spec.inputSchema, args)
}

function readInput(input: unknown): Record<string, unknown> | undefined {
  try {
    const value = typeof input === 'string' ? parseForeignJson(input) : input
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
