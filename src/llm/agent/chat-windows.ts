import type { EpisodeNode } from '../episode/types.ts'
import type { ChatFormat, ChatWindow, ConversationMessage } from './chat-format/index.ts'
import type { Act, ActRequest } from './types.ts'

/** What an act is made in: the prompt, and which part of it no earlier act has in its tokens. */
export interface OpenWindow {
  request: ActRequest
  messages: readonly ConversationMessage[]
  window: ChatWindow
  prompt: Int32Array
  /** The part of the prompt that goes into the tokens of this act, in front of what is said. */
  added: Int32Array
  rewritten: boolean
}

export interface Said {
  output: Int32Array
  logprobs: Float32Array
  message: ConversationMessage
}

/** The windows of episodes whose model reads through a chat format. */
export interface Windows {
  next(request: ActRequest): OpenWindow
  /** What the message would be in this window, as tokens. */
  write(window: OpenWindow, message: ConversationMessage): Int32Array
  /** The tokens of the act, prompt included, and remembers what was said, so that the next window follows it. */
  spoke(
    window: OpenWindow,
    said: Said,
  ): Pick<Act, 'tokens' | 'logprobs' | 'mask' | 'promptTokens' | 'rewritten'>
}

interface Memory {
  window: ChatWindow
  /** Prompt and output. */
  tokens: Int32Array
  output: Int32Array
  message: ConversationMessage
}

/**
 * Templates make tokens of a conversation, not of a message, so the nodes of such episodes have no tokens but those of the policy:
 * each begins with all that was new in its prompt (mask 0). Windows are known by the tokens of the last act, which stay where they are.
 */
export function createWindows(format: ChatFormat): Windows {
  const memory = new WeakMap<Int32Array, Memory>()
  return {
    next(request) {
      const { nodes, tools } = request
      const messages = conversationOf(nodes, (node) => memory.get(node.tokens)?.message)
      const last = nodes.findLast((node) => node.role === 'assistant')
      const before = last === undefined ? undefined : memory.get(last.tokens)
      const following =
        before === undefined ? undefined : format.follow(before.window, before.output, messages, tools)
      if (before !== undefined && following !== undefined) {
        const prompt = concatenate(before.tokens, following.tokens)
        return { request, messages, window: following, prompt, added: following.tokens, rewritten: false }
      }
      const window = format.open(messages, tools)
      const { tokens } = window
      return { request, messages, window, prompt: tokens, added: tokens, rewritten: last !== undefined }
    },
    write: ({ window, messages, request }, message) =>
      format.write(window, [...messages, message], request.tools),
    spoke({ window, prompt, added, rewritten }, { output, logprobs, message }) {
      const tokens = concatenate(added, output)
      memory.set(tokens, { window, tokens: concatenate(prompt, output), output, message })
      const shifted = new Float32Array(tokens.length)
      shifted.set(logprobs, added.length)
      return {
        tokens,
        logprobs: shifted,
        mask: new Uint8Array(tokens.length).fill(1, added.length),
        promptTokens: prompt.length,
        ...(rewritten ? { rewritten } : {}),
      }
    },
  }
}

/** The nodes as messages; `known` gives back what an assistant said with its thoughts, which no node holds. */
function conversationOf(
  nodes: readonly EpisodeNode[],
  known: (node: EpisodeNode) => ConversationMessage | undefined,
): ConversationMessage[] {
  const open = new Set<string>()
  return nodes.map((node): ConversationMessage => {
    const { role, text, calls, callId } = node
    if (role === 'assistant') {
      open.clear()
      for (const { id } of calls ?? []) open.add(id)
      const said = known(node) ?? { role, text }
      return { ...said, ...(calls === undefined ? {} : { calls }) }
    }
    if (role !== 'tool') return { role, text }
    // The answer to an attempt that could not be read belongs to no call.
    return callId !== undefined && open.delete(callId) ? { role, text, callId } : { role: 'user', text }
  })
}

export function concatenate(...parts: readonly Int32Array[]): Int32Array {
  const whole = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
