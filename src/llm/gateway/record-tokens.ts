import type { ChatWindow, ConversationMessage } from '../agent/chat-format/types.ts'
import type { SamplingSettings } from '../episode/types.ts'
import { createRecorder } from '../rollout/agents/recorder.ts'
import type { WireTokens } from './read-wire.ts'
import type { Conversation, Recording } from './sessions.ts'

export interface RecordedTokens {
  record: Recording
  onCall: (
    conversation: Conversation,
    answer: { message: ConversationMessage; invalid: string | undefined },
    tokens: WireTokens,
    sampling: SamplingSettings,
  ) => void
}

/**
 * Records calls of a service that gives the ids of its tokens. A call whose prompt begins with the prompt and the output of the call that it
 * continues shares their tokens; any other has a row of its own, exact too.
 */
export function recordTokens(): RecordedTokens {
  const prompts = new WeakMap<ChatWindow, Int32Array>()
  let given: Int32Array = new Int32Array(0)
  const windowFrom = (start: number, messages: number): ChatWindow => {
    const window = { tokens: given.subarray(start), text: '', messages }
    prompts.set(window, given)
    return window
  }
  const recorder = createRecorder({
    open: (messages) => windowFrom(0, messages.length),
    follow(before, output, messages) {
      const earlier = prompts.get(before) ?? new Int32Array(0)
      const shared = Int32Array.from([...earlier, ...output])
      const isPrefix = given.length >= shared.length && shared.every((token, i) => given[i] === token)
      return isPrefix ? windowFrom(shared.length, messages.length) : undefined
    },
  })
  return {
    record: recorder.record,
    onCall({ messages, tools }, { message, invalid }, { prompt, output, logprobs }, sampling) {
      given = prompt
      const placed = recorder.place(messages, tools)
      recorder.answered(placed, {
        message,
        invalid,
        output,
        logprobs,
        weightVersion: 0,
        sampling,
        trainable: true,
      })
    },
  }
}
