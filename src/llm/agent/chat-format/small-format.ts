import { callText, encodeConversation, encodeMessage, lastResult } from '../../tokenizer/template.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import { checkLength } from '../../tokenizer/byte-tokenizer.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import { parseSegments } from '../parse-calls.ts'
import type { ParsedOutput } from '../parse-calls.ts'
import { wholeCharacters } from './template-output.ts'
import { toolSignatures } from './tool-signatures.ts'
import type { ChatFormat, ConversationMessage } from './types.ts'

export interface SmallFormatOptions {
  /**
   * Most tokens of the tool definitions at the start of the prompt, in the form of `toolSignatures`. Only a model that was
   * trained on such prompts can use them. Default: 0, so the prompt has no tool definitions.
   */
  toolTokens?: number
}

/**
 * The format of Agoge's own models: messages between markers, and calls as exact JSON after `<|call|>`. With `toolTokens`, a
 * system message at the start describes the tools; else they are not part of the prompt.
 */
export function createSmallFormat(
  tokenizer: Tokenizer,
  { toolTokens = 0 }: SmallFormatOptions = {},
): ChatFormat {
  const assistant = tokenizer.special('<|assistant|>')
  const end = tokenizer.special('<|end|>')
  const encode = (messages: readonly ConversationMessage[]): number[] => [
    ...encodeConversation(tokenizer, messages.map(chatMessage)).tokens,
    assistant,
  ]
  const described = new WeakMap<readonly ToolSpec[], string>()
  /** The tools as they stand in the prompt. Offered again, the same list is not written again. */
  const describe = (tools: readonly ToolSpec[]): string => {
    if (toolTokens === 0 || tools.length === 0) return ''
    const fits = (text: string): boolean => tokenizer.encode(text).length <= toolTokens
    const text = described.get(tools) ?? toolSignatures(tools, fits)
    described.set(tools, text)
    return text
  }
  return {
    stop: [end],
    open(messages, tools, most = Infinity) {
      const texts = messages.flatMap(({ text, calls = [] }) => [text, ...calls.map(callText)])
      const characters = texts.reduce((sum, { length }) => sum + length, 0)
      // Each message has a token before its text and one after it, also an empty one.
      checkLength(2 * messages.length + characters / tokenizer.longestToken, most)
      const text = describe(tools)
      const tokens = Int32Array.from(encode(withTools(messages, text)))
      return { tokens, messages: messages.length, text }
    },
    follow(window, output, messages, tools) {
      const text = describe(tools)
      // Tools that changed stand at the start, so the prompt starts anew.
      if (text !== window.text) return undefined
      const closing = output.at(-1) === end ? [] : [end]
      const tokens = Int32Array.from([...closing, ...encode(messages.slice(window.messages + 1))])
      return { tokens, messages: messages.length, text }
    },
    read: (output) => readSmallOutput(output, tokenizer),
    visible(output) {
      const call = tokenizer.special('<|call|>')
      const at = output.findIndex((id) => id === end || id === call)
      return { text: wholeCharacters(tokenizer.decode(at < 0 ? output : output.subarray(0, at))) }
    },
    write: (_, messages) =>
      encodeMessage(
        tokenizer,
        chatMessage(messages[messages.length - 1]),
        lastResult(messages),
      ).tokens.subarray(1),
    readsTools: toolTokens > 0,
    plain(output) {
      const at = output.findIndex((id) => id === end || id === tokenizer.special('<|call|>'))
      return tokenizer.decode(at < 0 ? output : output.subarray(0, at), { skipSpecial: true })
    },
    outputGrammar: (tools, most = Infinity) =>
      tools.length === 0
        ? anyText
        : {
            sequence: [
              anyText,
              { repeat: callGrammar(tools.map(withAnyArguments)), least: 0, ...atMost(most) },
            ],
          },
    callGrammar,
  }

  function callGrammar(tools: readonly ToolSpec[]): Grammar {
    return {
      sequence: [
        { token: tokenizer.special('<|call|>') },
        {
          choice: tools.map(({ name, inputSchema }) => ({
            sequence: [`{"name":${JSON.stringify(name)},"arguments":`, { schema: inputSchema }, '}'],
          })),
        },
      ],
    }
  }
}

/** Tools come first, then the system message that the conversation has itself. */
function withTools(messages: readonly ConversationMessage[], tools: string): readonly ConversationMessage[] {
  if (tools === '') return messages
  const [first, ...rest] = messages
  return first?.role === 'system'
    ? [{ ...first, text: `${tools}\n\n${first.text}` }, ...rest]
    : [{ role: 'system', text: tools }, ...messages]
}

const anyText: Grammar = { regex: '[^]*' }

/** A tool that accepts any object, for schemas that a grammar cannot express. */
export const withAnyArguments = (tool: ToolSpec): ToolSpec => ({ ...tool, inputSchema: { type: 'object' } })

/** Grammars are sent and compared as JSON, which has no infinity. */
export const atMost = (most: number): { most?: number } => (most === Infinity ? {} : { most })

function chatMessage({ role, text, calls }: ConversationMessage): ChatMessage {
  return { role, text, ...(calls === undefined ? {} : { calls: [...calls] }) }
}

/** Splits the sampled tokens at their markers. A misplaced marker makes the output invalid. */
export function readSmallOutput(tokens: Int32Array, tokenizer: Tokenizer): ParsedOutput {
  const call = tokenizer.special('<|call|>')
  const end = tokenizer.special('<|end|>')
  const foreign = new Set(
    (['<|pad|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>', '<|spare|>'] as const).map((name) =>
      tokenizer.special(name),
    ),
  )
  const stop = tokens.indexOf(end)
  const body = stop < 0 ? tokens : tokens.subarray(0, stop)
  const segments: string[] = []
  let from = 0
  for (let i = 0; i <= body.length; i++) {
    if (i < body.length && body[i] !== call) continue
    segments.push(tokenizer.decode(body.subarray(from, i)))
    from = i + 1
  }
  const parsed = parseSegments(segments[0], segments.slice(1))
  if (parsed.invalid === undefined && body.some((id) => foreign.has(id))) {
    return { text: parsed.text, calls: [], invalid: 'a marker is out of place' }
  }
  return parsed
}
