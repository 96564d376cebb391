import type { ToolCall } from '../../episode/types.ts'
import type { Grammar } from '../../grammar/index.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import type { BareCall } from '../parse-calls.ts'

/** A message as every protocol in front of a model can say it. */
export interface ConversationMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  /** Of an assistant: what it thought before it spoke, without the marks around it. */
  reasoning?: string
  calls?: readonly ToolCall[]
  /** Of a tool: the call that it answers. */
  callId?: string
  /** Of a tool: it said that the call failed. */
  isError?: boolean
}

/** What a model was shown before it spoke. */
export interface ChatWindow {
  /** All token ids where the window stands by itself, else only those after the output that it follows. */
  tokens: Int32Array
  /** How many messages it shows. */
  messages: number
  /** As the template rendered it; empty where tokens are made message by message. */
  text: string
}

/** What a model said, taken apart. */
export interface ChatOutput {
  text: string
  reasoning?: string
  calls: BareCall[]
  /** Why an attempted call could not be understood; `calls` is empty then. */
  invalid?: string
}

/**
 * How a model reads conversations and speaks: its template, its markers, its way of writing calls. Tokens that were sampled are never
 * made again from their text: `follow` gives what comes after them.
 */
export interface ChatFormat {
  /** Ids that end what the model says. */
  readonly stop: readonly number[]
  /**
   * The whole conversation, up to where the model speaks.
   *
   * @throws AgogeError `no-tool-calls` for tools where the format knows no calls; `sequence-too-long` where it is plain, before all of it is
   * tokenised, that there are more than `most` tokens
   */
  open(messages: readonly ConversationMessage[], tools: readonly ToolSpec[], most?: number): ChatWindow
  /**
   * What is added to a window and the `output` sampled in it, so that it shows all `messages` and the model speaks again; the output is
   * that of message `window.messages`. Undefined where the template would now show the past otherwise than it was when the model
   * spoke (Qwen3 leaves out earlier thoughts once the user speaks again): then the conversation has to be opened anew.
   */
  follow(
    window: ChatWindow,
    output: Int32Array,
    messages: readonly ConversationMessage[],
    tools: readonly ToolSpec[],
  ): ChatWindow | undefined
  /** Takes apart what was sampled; a stop token and what follows it are left out. Never throws. */
  read(output: Int32Array): ChatOutput
  /** Of an output that still grows: the text and thoughts that will stay as they are, whatever comes. */
  visible(output: Int32Array): { text: string; reasoning?: string }
  /** The tokens by which the model would say the last of the messages in this window, its end included: for demonstrations. */
  write(window: ChatWindow, messages: readonly ConversationMessage[], tools: readonly ToolSpec[]): Int32Array
  /** Whether the model is shown the definitions of tools; else it knows only those it was trained with. */
  readonly readsTools: boolean
  /** What was said as text: without calls that are marked as such, and without control tokens. */
  plain(output: Int32Array): string
  /**
   * Text, then calls of these tools and no others, `most` of them (default: any number), with any object as arguments; undefined where nothing
   * but the whole output says whether it is a call.
   */
  outputGrammar(tools: readonly ToolSpec[], most?: number): Grammar | undefined
  /** All that is a call of one of the tools, with arguments of its schema; undefined where the format knows no calls. */
  callGrammar(tools: readonly ToolSpec[]): Grammar | undefined
}
