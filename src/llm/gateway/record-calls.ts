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

/** The calls of a trial as the tree of an episode, and their sums. */
export interface RecordedCalls {
  onCall: (options: CallOptions, result: CallResult) => void
  nodes: Episode['nodes']
  samples: Episode['samples']
  usage: Episode['usage']
  /** Calls of the model. */
  count: () => number
}

const none = new Int32Array(0)
const noWindow = { tokens: none, text: '' }

/**
 * Records calls of models that give no tokens: the nodes of the tree have texts only, and cannot be trained on.
 *
 * @param restored the messages of a call, with what its client left out. Default: as they are
 */
export function recordCalls(
  restored: (conversation: Conversation) => readonly ConversationMessage[] = ({ messages }) => messages,
): RecordedCalls {
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
    onCall(options, { content, tokens }) {
      const { messages, tools } = readConversation(options)
      const { message, problems } = readContent(content, tools)
      recorder.answered(recorder.place(restored({ messages, tools }), tools), {
        message,
        invalid: problems[0],
        output: none,
        logprobs: new Float32Array(0),
        weightVersion: 0,
        sampling: { temperature: options.temperature ?? 1 },
        trainable: false,
      })
      count += 1
      usage.promptTokens += tokens?.input ?? 0
      usage.sampledTokens += tokens?.output ?? 0
      usage.calls += message.calls?.length ?? 0
      usage.invalidCalls += problems.length
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
    const spec = tools.find(({ name }) => name === toolName)
    const problem =
      spec === undefined
        ? `there is no tool "${toolName}"`
        : read === undefined
          ? `the arguments of ${toolName} are no JSON object`
          : validateArguments(spec.inputSchema, read)
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

function readInput(input: unknown): Record<string, unknown> | undefined {
  try {
    const value = typeof input === 'string' ? parseForeignJson(input) : input
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
