import { callText, encodeConversation, encodeMessage } from '../../tokenizer/template.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import { checkLength } from '../../tokenizer/byte-tokenizer.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import { parseSegments } from '../parse-calls.ts'
import type { ParsedOutput } from '../parse-calls.ts'
import { wholeCharacters } from './template-output.ts'
import type { ChatFormat, ConversationMessage } from './types.ts'

/**
 * The format of Agoge's own models: messages between markers, and calls as exact JSON after `<|call|>`. Tool definitions are not
 * part of the prompt.
 */
export function createSmallFormat(tokenizer: Tokenizer): ChatFormat {
  const assistant = tokenizer.special('<|assistant|>')
  const end = tokenizer.special('<|end|>')
  const encode = (messages: readonly ConversationMessage[]): number[] => [
    ...encodeConversation(tokenizer, messages.map(chatMessage)).tokens,
    assistant,
  ]
  return {
    stop: [end],
    open(messages, _, most = Infinity) {
      const texts = messages.flatMap(({ text, calls = [] }) => [text, ...calls.map(callText)])
      const characters = texts.reduce((sum, { length }) => sum + length, 0)
      checkLength(characters / tokenizer.longestToken, most)
      return { tokens: Int32Array.from(encode(messages)), messages: messages.length, text: '' }
    },
    follow(window, output, messages) {
      const closing = output.at(-1) === end ? [] : [end]
      const tokens = Int32Array.from([...closing, ...encode(messages.slice(window.messages + 1))])
      return { tokens, messages: messages.length, text: '' }
    },
    read: (output) => readSmallOutput(output, tokenizer),
    visible(output) {
      const call = tokenizer.special('<|call|>')
      const at = output.findIndex((id) => id === end || id === call)
      return { text: wholeCharacters(tokenizer.decode(at < 0 ? output : output.subarray(0, at))) }
    },
    write: (_, messages) =>
      encodeMessage(tokenizer, chatMessage(messages[messages.length - 1])).tokens.subarray(1),
    readsTools: false,
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
