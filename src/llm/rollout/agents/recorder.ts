import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../defined.ts'
import type { ModelAnswer } from '../../agent/ai-sdk/language-model.ts'
import type { ChatFormat, ChatWindow, ConversationMessage } from '../../agent/chat-format/types.ts'
import type { Episode, EpisodeNode, EpisodeSample, SamplingSettings } from '../../episode/types.ts'
import type { ToolSpec } from '../../tool/tool.ts'

/** A call of an agent, placed in the tree of its episode's messages. */
export interface PlacedCall {
  messages: readonly ConversationMessage[]
  tools: readonly ToolSpec[]
  /** The tokens of the prompt. */
  prompt: Int32Array
  window: ChatWindow
  /** The part of the prompt that no earlier call contains. */
  added: Int32Array
  /** The earlier call that this one continues. */
  before: Answered | undefined
  /** False if the template renders earlier messages differently than they were sampled. The prompt then starts a row of its own. */
  follows: boolean
}

interface Answered extends PlacedCall {
  message: ConversationMessage
  output: Int32Array
  /** Nodes that make up its prompt, and its own output. */
  path: readonly number[]
}

export interface AgentAnswer {
  message: ConversationMessage
  invalid: string | undefined
  output: Int32Array
  logprobs: Float32Array
  weightVersion: number
  sampling: SamplingSettings
  trainable: boolean
}

/** Records the calls of one episode as a tree. A continued call reuses the exact tokens of the earlier one. */
export interface Recorder {
  place(messages: readonly ConversationMessage[], tools: readonly ToolSpec[]): PlacedCall
  answered(call: PlacedCall, answer: AgentAnswer): void
  /** Trailing messages of the longest conversation: results of tools that no call followed. */
  readonly record: Pick<Episode, 'nodes' | 'samples' | 'usage'>
}

const none = new Int32Array(0)

/**
 * A call continues an earlier call if its messages begin with that call's prompt and output; the longest match wins. Two calls
 * that continue the same one are branches. A call without a match (a sub-agent, a first call) starts a new conversation.
 */
export function createRecorder(format: Pick<ChatFormat, 'open' | 'follow'>): Recorder {
  const nodes: EpisodeNode[] = []
  const samples: EpisodeSample[] = []
  const usage = { promptTokens: 0, sampledTokens: 0, calls: 0, invalidCalls: 0 }
  const known: Answered[] = []

  function add(parent: number | null, node: Omit<EpisodeNode, 'id' | 'parent' | 'agent'>): number {
    nodes.push({ id: nodes.length, parent, agent: 'agent', ...node })
    return nodes.length - 1
  }

  return {
    record: { nodes, samples, usage },
    place(messages, tools) {
      const before = known
        .filter((earlier) => goesOnFrom(earlier, messages, tools))
        .reduce<Answered | undefined>(
          (longest, one) =>
            longest === undefined || one.messages.length >= longest.messages.length ? one : longest,
          undefined,
        )
      const following = before && format.follow(before.window, before.output, messages, tools)
      if (before !== undefined && following !== undefined) {
        const prompt = Int32Array.from([...before.prompt, ...before.output, ...following.tokens])
        return { messages, tools, prompt, window: following, added: following.tokens, before, follows: true }
      }
      const window = format.open(messages, tools)
      return { messages, tools, prompt: window.tokens, window, added: window.tokens, before, follows: false }
    },
    answered(call, { message, invalid, output, logprobs, weightVersion, sampling, trainable }) {
      const { before, messages, prompt, added } = call
      let parent = before?.path.at(-1) ?? null
      const path = call.follows && before !== undefined ? [...before.path] : []
      for (const { role, text, calls, callId, isError } of messages.slice(
        before ? before.messages.length + 1 : 0,
      )) {
        parent = add(parent, {
          role,
          text,
          tokens: none,
          ...(calls === undefined ? {} : { calls: [...calls] }),
          ...defined({ callId }),
          ...(role === 'tool' ? { isError: isError === true } : {}),
        })
        path.push(parent)
      }
      const tokens = Int32Array.from([...added, ...output])
      const shifted = new Float32Array(tokens.length)
      shifted.set(logprobs, added.length)
      const id = add(parent, {
        role: 'assistant',
        text: message.text,
        tokens,
        ...(message.calls === undefined ? {} : { calls: [...message.calls] }),
        ...defined({ invalid }),
      })
      samples.push({
        path: [...path],
        output: id,
        logprobs: shifted,
        mask: new Uint8Array(tokens.length).fill(1, added.length),
        weightVersion,
        sampling,
        trainable,
      })
      known.push({ ...call, message, output, path: [...path, id] })
      usage.promptTokens += prompt.length
      usage.sampledTokens += output.length
      usage.calls += (message.calls?.length ?? 0) + (invalid === undefined ? 0 : 1)
      if (invalid !== undefined) usage.invalidCalls++
    },
  }
}

/** Records what a local model said, with the tokens that it sampled. */
export function recordSaid(
  recorder: Recorder,
  placed: PlacedCall,
  { output, said }: Pick<ModelAnswer, 'output' | 'said'>,
  how: Pick<AgentAnswer, 'sampling' | 'trainable'>,
): void {
  const { text, reasoning, calls, invalid } = said
  const message: ConversationMessage = {
    role: 'assistant',
    text,
    ...defined({ reasoning }),
    ...(calls.length === 0 ? {} : { calls }),
  }
  const { tokens, logprobs, weightVersion } = output
  recorder.answered(placed, { message, invalid, output: tokens, logprobs, weightVersion, ...how })
}

function goesOnFrom(
  earlier: Answered,
  messages: readonly ConversationMessage[],
  tools: readonly ToolSpec[],
): boolean {
  const shown = earlier.messages.length
  return (
    messages.length > shown &&
    isDeepStrictEqual(messages.slice(0, shown), earlier.messages) &&
    isDeepStrictEqual(messages[shown], earlier.message) &&
    isDeepStrictEqual(tools, earlier.tools)
  )
}
