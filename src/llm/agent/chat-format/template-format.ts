import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { parseOwnJson } from '../../../untrusted/own-json.ts'
import type { Grammar } from '../../grammar/compile.ts'
import type { ChatTemplate, TemplateMessage } from '../../tokenizer/chat-template.ts'
import { checkLength } from '../../tokenizer/byte-tokenizer.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import { toFunctionTools } from '../chat-completions.ts'
import { atMost, withAnyArguments } from './small-format.ts'
import { readTemplateOutput, splitThoughts, visibleText } from './template-output.ts'
import type { ChatFormat, ConversationMessage } from './types.ts'

// Characters of the private use area: a special token's name in a message passes through the template as `OPEN index CLOSE`.
const open = '\uE0F0'
const close = '\uE0F1'

/** Keeps the names of special tokens in messages from becoming those tokens in the encoded template. */
interface SpecialNames {
  hide(text: string): string
  /** Does the same for every string in a JSON value. */
  hideIn<T>(json: T): T
  /** Throws AgogeError `sequence-too-long` for more than `most` tokens. */
  encode(rendered: string, most?: number): number[]
}

/** Applies to the special tokens of a tokenizer (`<|im_end|>`). Other added tokens (`<tool_call>`) are ordinary text. */
function createSpecialNames(tokenizer: Tokenizer): SpecialNames {
  const names = [...tokenizer.model.specialTokens].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(
    names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'),
    'g',
  )
  const hidden = new RegExp(`${open}(\\d+)${close}`)
  const hide = (text: string): string => {
    const plain = text.replaceAll(open, '').replaceAll(close, '')
    return names.length === 0
      ? plain
      : plain.replaceAll(pattern, (name) => `${open}${names.indexOf(name)}${close}`)
  }
  return {
    hide,
    hideIn: (json) => parseOwnJson(hide(JSON.stringify(json))) as typeof json,
    encode(rendered, most = Infinity) {
      const ids: number[] = []
      for (const [i, part] of rendered.split(hidden).entries()) {
        const left = { most: most - ids.length }
        // Every second part is the index of a hidden name.
        const found =
          i % 2 === 1
            ? tokenizer.encode(names[Number(part)], left)
            : tokenizer.encode(part, { addedTokens: true, ...left })
        for (const id of found) ids.push(id)
      }
      return ids
    },
  }
}

/** How a template renders assistant messages, found by rendering test conversations. */
export interface TemplateStyle {
  /** The token that ends a message; undefined if the template writes none. */
  end?: string
  /** True if reasoning is a field (`reasoning_content`). Otherwise it is part of the text, between `<think>` tags. */
  reasoningField: boolean
  /**
   * The text before the name of a call, between name and arguments, and after them. Undefined if the template renders no calls,
   * or not as JSON.
   */
  call?: { before: string; between: string; after: string }
}

const user: TemplateMessage = { role: 'user', content: 'u' }
const [text, thought, name, value] = ['PROBED_TEXT', 'PROBED_THOUGHT', 'PROBED_NAME', 'PROBED_VALUE']

/** Renders test conversations. Templates that throw on calls or leave them out do not support calls. */
function probeTemplate(template: ChatTemplate, specialTokens: readonly string[]): TemplateStyle {
  const plain = template.render([user, { role: 'assistant', content: text }])
  const after = plain.slice(plain.indexOf(text) + text.length)
  const end = specialTokens
    .map((token) => ({ token, at: after.indexOf(token) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.token.length - a.token.length)[0]?.token
  const thinking = tryRender(template, { role: 'assistant', content: text, reasoning_content: thought })
  const call = probeCall(template, end)
  return {
    reasoningField: thinking.includes(thought),
    ...defined({ end, call }),
  }
}

function probeCall(template: ChatTemplate, end: string | undefined): TemplateStyle['call'] {
  const call = { id: 'call_0', type: 'function', function: { name, arguments: { value } } } as const
  const tools = [{ type: 'function', function: { name, description: '', parameters: { type: 'object' } } }]
  const rendered = tryRender(template, { role: 'assistant', content: '', tool_calls: [call] }, tools)
  const start = tryRender(template, undefined, tools)
  const said = rendered.startsWith(start) ? rendered.slice(start.length) : ''
  const [nameAt, valueAt] = [said.indexOf(name), said.indexOf(value)]
  if (nameAt < 0 || valueAt < 0) return undefined
  // The arguments object begins at the last brace before the value.
  const braceAt = said.lastIndexOf('{', valueAt)
  const between = said.slice(nameAt + name.length, braceAt)
  if (!/^"\s*,\s*"(?:arguments|parameters)"\s*:\s*$/.test(between)) return undefined
  const rest = said.slice(said.indexOf('}', valueAt) + 1)
  return {
    before: said.slice(0, nameAt).trimStart(),
    between,
    after: rest.slice(0, end === undefined ? undefined : rest.indexOf(end)).trimEnd(),
  }
}

/** The conversation of the user and this message; without a message, up to the generation prompt. */
function tryRender(template: ChatTemplate, message?: TemplateMessage, tools?: readonly unknown[]): string {
  try {
    return template.render(message === undefined ? [user] : [user, message], {
      ...defined({ tools }),
      addGenerationPrompt: message === undefined,
    })
  } catch (error) {
    if (AgogeError.isInstance(error)) return ''
    throw error
  }
}

/** Characters of a list as JSON; 0 for an empty one. */
const jsonLength = (list: readonly unknown[]): number => (list.length === 0 ? 0 : JSON.stringify(list).length)

export interface TemplateFormatOptions {
  template: ChatTemplate
  tokenizer: Tokenizer
  /** Ids that end an output, besides the one that the template writes after a message. */
  stop?: readonly number[]
  /** Variables for the template, such as Qwen3's `enable_thinking`. */
  variables?: Readonly<Record<string, unknown>>
}

/**
 * The format of a public model, from its chat template. The tokens after an output are the difference of two renderings, so they
 * are exactly those that the template puts between messages. Sampled tokens stay unchanged. Names of special tokens in a message
 * are read as ordinary text.
 *
 * @throws AgogeError `no-stop-token` if nothing determines how a message ends.
 */
export function createTemplateFormat(options: TemplateFormatOptions): ChatFormat {
  const { template, tokenizer, variables } = options
  const style = probeTemplate(template, tokenizer.model.specialTokens)
  const names = createSpecialNames(tokenizer)
  const end = style.end === undefined ? [] : [tokenizer.special(style.end)]
  const stop = [...new Set([...end, ...(options.stop ?? [])])]
  if (stop.length === 0) {
    throw new AgogeError('No stop token is known for this model.', {
      code: 'no-stop-token',
      expected:
        'a template that writes a special token after a message, or eos_token_id in generation_config.json',
    })
  }
  const endText = style.end ?? tokenizer.decode([stop[0]])

  function render(
    messages: readonly ConversationMessage[],
    tools: readonly ToolSpec[],
    addGenerationPrompt: boolean,
  ): string {
    return template.render(messages.map(templateMessage), {
      ...(tools.length === 0 ? {} : { tools: names.hideIn(toFunctionTools(tools)) }),
      addGenerationPrompt,
      ...defined({ variables }),
    })
  }

  function templateMessage({ role, text, reasoning, calls, callId }: ConversationMessage): TemplateMessage {
    const inText = reasoning !== undefined && !style.reasoningField
    const content = names.hide(inText ? `<think>\n${reasoning}\n</think>\n\n${text}` : text)
    return {
      role,
      content,
      ...(reasoning === undefined || inText ? {} : { reasoning_content: names.hide(reasoning) }),
      ...(calls === undefined || calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, arguments: given }) => ({
              id,
              type: 'function' as const,
              function: { name, arguments: names.hideIn(given) },
            })),
          }),
      ...defined({ tool_call_id: callId }),
    }
  }

  const user: ConversationMessage = { role: 'user', text: '' }
  const answer: ConversationMessage = { role: 'assistant', text: '' }
  const call = { id: 'c', name: 'f', arguments: {} }
  const calling = (count: number): ConversationMessage[] => [
    user,
    { ...answer, calls: Array.from({ length: count }, () => call) },
  ]
  /** Tokens that the template puts around each message: at least 1, as two empty ones show. */
  const perMessage = onDemand(() => tokensBetween([user, answer], [user, answer, user, answer]) / 2)
  /** The same for each call of a message. */
  const perCall = onDemand(() => tokensBetween(calling(1), calling(3)) / 2)

  function tokensBetween(
    fewer: readonly ConversationMessage[],
    more: readonly ConversationMessage[],
  ): number {
    const [before, after] = [fewer, more].map((messages) => names.encode(render(messages, [], true)).length)
    return after - before
  }

  return {
    stop,
    open(messages, tools, most = Infinity) {
      if (tools.length > 0 && style.call === undefined) throw noCalls()
      // Rendering takes long, so what cannot fit is refused before. Templates show texts, calls and tools in full.
      const characters = messages.reduce(
        (sum, { text: said, calls = [] }) =>
          sum + said.length + jsonLength(calls.map((call) => call.arguments)),
        jsonLength(tools),
      )
      const count = messages.reduce((sum, { calls = [] }) => sum + calls.length, 0)
      const around = perMessage() * messages.length + (count > 1 ? perCall() * (count - 1) : 0)
      checkLength(around + characters / tokenizer.longestToken, most)
      const text = render(messages, tools, true)
      return { tokens: Int32Array.from(names.encode(text, most)), messages: messages.length, text }
    },
    follow(window, output, messages, tools) {
      const text = render(messages, tools, true)
      if (!text.startsWith(window.text)) return undefined
      const rest = text.slice(window.text.length)
      const at = rest.indexOf(endText)
      const { reasoning = '', text: spoken } = messages[window.messages]
      const shown = (part: string): boolean => rest.slice(0, at).includes(names.hide(part.trim()))
      if (at < 0 || !shown(reasoning) || !shown(spoken)) return undefined
      // An output cut off by a limit has no end token.
      const from = stop.includes(output[output.length - 1]) ? at + endText.length : at
      const tokens = Int32Array.from(names.encode(rest.slice(from)))
      return { tokens, messages: messages.length, text }
    },
    read(output) {
      const at = output.findIndex((id) => stop.includes(id))
      const body = at < 0 ? output : output.subarray(0, at)
      const read = readTemplateOutput(tokenizer.decode(body), style.call)
      const misplaced = body.some(
        (id) => tokenizer.isSpecial(id) && tokenizer.decode([id]) !== '<|python_tag|>',
      )
      return misplaced && read.invalid === undefined
        ? { ...read, calls: [], invalid: 'a marker is out of place' }
        : read
    },
    visible(output) {
      const at = output.findIndex((id) => stop.includes(id))
      return visibleText(tokenizer.decode(at < 0 ? output : output.subarray(0, at)), style.call, at >= 0)
    },
    write(window, messages, tools) {
      const text = render(messages, tools, false)
      const at = text.indexOf(endText, window.text.length)
      if (!text.startsWith(window.text) || at < 0) {
        throw new AgogeError('The chat template cannot render this assistant message.', {
          code: 'chat-template-failed',
          given: text.slice(-200),
          expected: `the conversation so far, the message, and ${endText}`,
        })
      }
      return Int32Array.from(names.encode(text.slice(window.text.length, at + endText.length)))
    },
    readsTools: style.call !== undefined,
    plain(output) {
      const at = output.findIndex((id) => stop.includes(id))
      const said = tokenizer.decode(at < 0 ? output : output.subarray(0, at), { skipSpecial: true })
      const { rest } = splitThoughts(said)
      const mark = style.call?.before.includes(callMark) === true ? rest.indexOf(callMark) : -1
      return mark < 0 ? rest : rest.slice(0, mark).trimEnd()
    },
    outputGrammar(tools, most = Infinity) {
      if (style.call?.before.includes(callMark) !== true) return undefined
      const call = callGrammar(tools.map(withAnyArguments))
      if (tools.length === 0 || call === undefined) return textWithoutMark
      const calls = { repeat: { sequence: [call, { regex: '\\s*' }] }, least: 0, ...atMost(most) }
      return { sequence: [textWithoutMark, calls] }
    },
    callGrammar,
  }

  function callGrammar(tools: readonly ToolSpec[]): Grammar | undefined {
    const { call } = style
    if (call === undefined) return undefined
    return {
      choice: tools.map(({ name, inputSchema }) => ({
        sequence: [`${call.before}${name}${call.between}`, { schema: inputSchema, spaces: true }, call.after],
      })),
    }
  }
}

const callMark = '<tool_call>'

/** Any text without the call marker. It may contain beginnings of the marker, each followed by something else. */
const textWithoutMark: Grammar = ((): Grammar => {
  const begun = Array.from(callMark.slice(1), (_, i) => callMark.slice(0, i + 1))
  const begins = `(?:${begun.join('|')})*`
  const left = begun.map((text, i) => `${text}[^<${callMark[i + 1]}]`)
  return { regex: `(?:[^<]|${begins}(?:${left.join('|')}))*${begins}` }
})()

function noCalls(): AgogeError {
  return new AgogeError('This model does not support tools.', {
    code: 'no-tool-calls',
    given: 'a chat template that writes no calls, or writes them otherwise than as JSON',
    expected: 'calls as those of Qwen2.5, Qwen3 and Hermes, or of Llama 3.1 and 3.2',
    hint: 'use a model whose chat template supports tools, or an environment without tools (reasoning)',
  })
}

/** Measures a number of tokens when it is first asked for: at least 1, also where the template refuses what is measured. */
function onDemand(measure: () => number): () => number {
  let measured: number | undefined
  return () => {
    if (measured !== undefined) return measured
    measured = 1
    try {
      measured = Math.max(1, Math.floor(measure()))
    } catch (error) {
      if (!AgogeError.isInstance(error)) throw error
    }
    return measured
  }
}
