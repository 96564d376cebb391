import { defined } from '../../defined.ts'
import type { EpisodeNode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import type { ChatFormat, ChatWindow, ConversationMessage } from './chat-format/types.ts'
import type { Act, Actor, ActRequest } from './types.ts'

/** The prompt of an act, and the part of it that no earlier act contains. */
interface OpenWindow {
  request: ActRequest
  messages: readonly ConversationMessage[]
  window: ChatWindow
  prompt: Int32Array
  /** The part of the prompt that this act's tokens start with, before the output. */
  added: Int32Array
  rewritten: boolean
}

interface Said {
  output: Int32Array
  logprobs: Float32Array
  message: ConversationMessage
}

/** The prompts of episodes whose model reads through a chat format. */
interface Windows {
  next(request: ActRequest): OpenWindow
  /** The tokens that the message would have here. */
  write(window: OpenWindow, message: ConversationMessage): Int32Array
  /** The tokens of the act including its new prompt part. Remembers the output, so that the next prompt continues it. */
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
 * Chat templates make tokens from whole conversations, not from messages. So only the policy's nodes have tokens, and these
 * start with the new part of the prompt (mask 0). The tokens of the last act identify a prompt; they do not change.
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

/** The nodes as messages. `known` returns an assistant message with its reasoning, which nodes do not store. */
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
      return { ...said, ...defined({ calls }) }
    }
    if (role !== 'tool') return { role, text }
    // The reply to an invalid call answers no call id.
    return callId !== undefined && open.delete(callId) ? { role, text, callId } : { role: 'user', text }
  })
}

function concatenate(...parts: readonly Int32Array[]): Int32Array {
  const whole = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

interface ChatActorOptions {
  backend: Pick<ModelBackend, 'sample'>
  format: ChatFormat
  /** 0 is greedy. */
  sampling: { temperature: number }
  /** Determines every draw, together with episode, turn and token index. */
  seed: number
  maxTokensPerTurn: number
  /** Context window in tokens (`max_position_embeddings`). An episode that fills it ends. */
  window: number
}

const none = new Int32Array(0)

/**
 * A local policy with a chat format, such as a public checkpoint with its chat template and tools. Keeps sampled ids verbatim.
 * The tokens of an act start with the new part of its prompt (mask 0). If the template renders earlier messages differently than
 * before, the act starts a new prompt, and so a new training row.
 */
export function createChatActor(options: ChatActorOptions): Actor {
  const { backend, format, sampling, seed, maxTokensPerTurn: maxTokens, window: limit } = options
  const windows = createWindows(format)
  return {
    name: 'local',
    sampling: { temperature: sampling.temperature },
    encode: () => none,
    async act(requests, { signal }) {
      const opened = requests.map((request) => windows.next(request))
      const fitting = opened.filter(({ prompt }) => prompt.length < limit)
      const sampled = await (fitting.length === 0
        ? []
        : backend.sample(
            fitting.map(({ prompt, request }) => ({ prompt, key: `${request.episode}:${request.turn}` })),
            {
              maxTokens,
              stop: format.stop,
              temperature: sampling.temperature,
              seed,
              ...defined({ signal }),
            },
          ))
      const outputs = new Map(fitting.map((window, i) => [window, sampled[i]]))
      return opened.map((window): Act => {
        const { turn } = window.request
        const sample = outputs.get(window)
        if (sample === undefined) return { ...tooLong, promptTokens: window.prompt.length }
        const { tokens: output, logprobs, finish, weightVersion } = sample
        const { text, reasoning, calls: bare, invalid } = format.read(output)
        const calls = bare.map((call, k) => ({ id: `${turn}.${k}`, ...call }))
        const message: ConversationMessage = {
          role: 'assistant',
          text,
          ...defined({ reasoning }),
          ...(calls.length === 0 ? {} : { calls }),
        }
        return {
          text,
          calls,
          ...defined({ invalid }),
          finish,
          weightVersion,
          ...windows.spoke(window, { output, logprobs, message }),
        }
      })
    },
  }
}

/** The act of an episode whose prompt fills the context window. */
const tooLong = {
  text: '',
  calls: [],
  finish: 'length',
  tokens: none,
  logprobs: new Float32Array(0),
  mask: new Uint8Array(0),
  weightVersion: 0,
} as const satisfies Partial<Act> & { calls: [] }
