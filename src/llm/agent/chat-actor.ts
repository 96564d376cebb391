import { defined } from '../../defined.ts'
import type { EpisodeNode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import type { ChatFormat, ChatWindow, ConversationMessage } from './chat-format/index.ts'
import type { Act, Actor, ActRequest } from './types.ts'

/** What an act is made in: the prompt, and which part of it no earlier act has in its tokens. */
interface OpenWindow {
  request: ActRequest
  messages: readonly ConversationMessage[]
  window: ChatWindow
  prompt: Int32Array
  /** The part of the prompt that goes into the tokens of this act, in front of what is said. */
  added: Int32Array
  rewritten: boolean
}

interface Said {
  output: Int32Array
  logprobs: Float32Array
  message: ConversationMessage
}

/** The windows of episodes whose model reads through a chat format. */
interface Windows {
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
      return { ...said, ...defined({ calls }) }
    }
    if (role !== 'tool') return { role, text }
    // The answer to an attempt that could not be read belongs to no call.
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
  /** 0 = greedy. */
  sampling: { temperature: number }
  /** Together with episode, turn and token index it determines every draw. */
  seed: number
  maxTokensPerTurn: number
  /** Tokens that the model can see (`max_position_embeddings`); an episode that comes to it ends. */
  window: number
}

const none = new Int32Array(0)

/**
 * A policy in this process that reads and speaks through a chat format, such as a public checkpoint with its chat template and tools.
 * Sampled ids are kept verbatim; the tokens of an act begin with what is new in its prompt (mask 0). Where the template rewrites the past,
 * the act stands in a window of its own, hence in a training row of its own.
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

/** An act that was not possible: the prompt alone fills the window. */
const tooLong = {
  text: '',
  calls: [],
  finish: 'length',
  tokens: none,
  logprobs: new Float32Array(0),
  mask: new Uint8Array(0),
  weightVersion: 0,
} as const satisfies Partial<Act> & { calls: [] }
