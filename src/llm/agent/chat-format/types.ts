import type { ToolCall } from '../../episode/types.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import type { BareCall } from '../parse-calls.ts'

/** A chat message, with the fields of every supported protocol. */
export interface ConversationMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  /** Of an assistant: its reasoning, without the tags. */
  reasoning?: string
  calls?: readonly ToolCall[]
  /** Of a tool: the id of the call that it answers. */
  callId?: string
  /** Of a tool: whether the call failed. */
  isError?: boolean
}

/** The prompt of one output. */
export interface ChatWindow {
  /** All token ids if the prompt starts anew; otherwise only those after the output that it continues. */
  tokens: Int32Array
  /** Number of messages in the prompt. */
  messages: number
  /** The rendered template. If tokens are made message by message: the tool definitions at the start, or nothing. */
  text: string
}

/** A parsed output of a model. */
export interface ChatOutput {
  text: string
  reasoning?: string
  calls: BareCall[]
  /** Why an attempted call is invalid; `calls` is then empty. */
  invalid?: string
}

/**
 * How a model reads conversations and writes: its template, markers and call syntax. Sampled tokens are never re-encoded from
 * text; `follow` returns the tokens after them.
 */
export interface ChatFormat {
  /** Ids that end an output. */
  readonly stop: readonly number[]
  /**
   * The prompt of the whole conversation.
   *
   * @throws AgogeError `no-tool-calls` for tools if the format does not support calls; `sequence-too-long` as soon as it is
   *   clear that there are more than `most` tokens.
   */
  open(messages: readonly ConversationMessage[], tools: readonly ToolSpec[], most?: number): ChatWindow
  /**
   * Continues `window` and its sampled `output` so that the prompt shows all `messages`. The output is message
   * `window.messages`. Returns undefined if the template now renders earlier messages differently (Qwen3 drops earlier reasoning
   * after a user message); `open` the conversation again in that case.
   */
  follow(
    window: ChatWindow,
    output: Int32Array,
    messages: readonly ConversationMessage[],
    tools: readonly ToolSpec[],
  ): ChatWindow | undefined
  /** Parses sampled tokens. Ignores a stop token and everything after it. Never throws. */
  read(output: Int32Array): ChatOutput
  /** For an output that is still growing: the text and reasoning that cannot change any more. */
  visible(output: Int32Array): { text: string; reasoning?: string }
  /** The tokens with which the model would write the last message, including its end. Used for demonstrations. */
  write(window: ChatWindow, messages: readonly ConversationMessage[], tools: readonly ToolSpec[]): Int32Array
  /** Whether the prompt contains tool definitions. Otherwise the model knows only the tools of its training. */
  readonly readsTools: boolean
  /** The output as text, without marked calls and control tokens. */
  plain(output: Int32Array): string
  /**
   * Grammar: text, then at most `most` calls of these tools (default: any number) with any object as arguments. Undefined if
   * only the whole output tells whether it is a call.
   */
  outputGrammar(tools: readonly ToolSpec[], most?: number): Grammar | undefined
  /** Grammar: only calls of these tools, with arguments of their schema. Undefined if the format does not support calls. */
  callGrammar(tools: readonly ToolSpec[]): Grammar | undefined
}
