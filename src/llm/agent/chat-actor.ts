import type { ModelBackend } from '../model-backend.ts'
import type { ChatFormat, ConversationMessage } from './chat-format/index.ts'
import { createWindows } from './chat-windows.ts'
import type { Act, Actor } from './types.ts'

export interface ChatActorOptions {
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
              ...(signal === undefined ? {} : { signal }),
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
          ...(reasoning === undefined ? {} : { reasoning }),
          ...(calls.length === 0 ? {} : { calls }),
        }
        return {
          text,
          calls,
          ...(invalid === undefined ? {} : { invalid }),
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
