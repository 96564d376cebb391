import { type BareCall, readCalls } from '../parse-calls.ts'
import type { TemplateStyle } from './template-format.ts'
import type { ChatFormat, ChatOutput } from './types.ts'

/**
 * Parses an output of a public model, without its stop token: reasoning between `<think>` tags, then calls in the format of the
 * model family. Hermes and Qwen write JSON between `<tool_call>` tags; Llama 3 writes only JSON. Nothing is repaired.
 */
export function readTemplateOutput(said: string, call: TemplateStyle['call']): ChatOutput {
  const { reasoning, rest } = splitThoughts(said)
  const thought = reasoning === undefined ? {} : { reasoning }
  if (call === undefined) return { ...thought, text: rest, calls: [] }
  const marked = call.before.includes('<tool_call>')
  const bodies = marked ? [...rest.matchAll(markedCall)].map((match) => match[1].trim()) : bareEncoders(rest)
  if (bodies.length === 0) return { ...thought, text: rest, calls: [] }
  const text = marked ? rest.replaceAll(markedCall, '').trimEnd() : ''
  const calls: BareCall[] = []
  for (const body of bodies) {
    const found = readCalls(body, false)
    // The text stays in the conversation unchanged, so that the model can see its mistake.
    if (typeof found === 'string') return { ...thought, text: rest.trim(), calls: [], invalid: found }
    for (const call of found) calls.push(call)
  }
  return { ...thought, text, calls }
}

const markedCall = /<tool_call>([\s\S]*?)(?:<\/tool_call>|$)/g

/** An output that is one JSON object with a name is a call. Llama 3.1 may put `<|python_tag|>` before it. */
function bareEncoders(said: string): string[] {
  const body = said.trim().replace(/^<\|python_tag\|>/, '')
  return /^\{\s*"(?:name|type|function)"\s*:/.test(body) && /"(?:parameters|arguments)"\s*:/.test(body)
    ? [body]
    : []
}

/** Some prompts open the reasoning themselves, so the output only closes it. */
export function splitThoughts(said: string): { reasoning?: string; rest: string } {
  const end = said.indexOf('</think>')
  if (end < 0) return { rest: said }
  const reasoning = said
    .slice(0, end)
    .replace(/^\s*<think>/, '')
    .trim()
  const rest = said.slice(end + '</think>'.length).replace(/^\n+/, '')
  return reasoning === '' ? { rest } : { reasoning, rest }
}

/** Drops an incomplete UTF-8 character at the end. */
export function wholeCharacters(text: string): string {
  return text.replace(/\uFFFD{1,3}$/, '')
}

/** Drops an ending that may be the beginning of a tag. */
export function withoutBegunMark(text: string, marks: readonly string[]): string {
  const longest = marks.flatMap((mark) =>
    Array.from({ length: Math.min(mark.length - 1, text.length) }, (_, i) => i + 1).filter((length) =>
      text.endsWith(mark.slice(0, length)),
    ),
  )
  return text.slice(0, text.length - Math.max(0, ...longest))
}

const mark = '<tool_call>'

/** The final part of an output that is still growing; see `readTemplateOutput`. */
export function visibleText(
  said: string,
  call: TemplateStyle['call'],
  ended: boolean,
): { text: string; reasoning?: string } {
  const whole = wholeCharacters(said)
  if (
    !whole.includes('</think>') &&
    (whole.trimStart().startsWith('<think>') || '<think>'.startsWith(whole.trim()))
  ) {
    // Reasoning is trimmed once it has ended.
    const begun = withoutBegunMark(whole.trimStart().slice('<think>'.length), ['</think>'])
    const reasoning = begun.trim() === '' ? '' : begun.trimStart().trimEnd()
    return reasoning === '' ? { text: '' } : { text: '', reasoning }
  }
  const { reasoning, rest } = splitThoughts(whole)
  const thought = reasoning === undefined ? {} : { reasoning }
  if (call === undefined) return { ...thought, text: rest }
  if (!call.before.includes(mark)) {
    // An output that begins with a brace may become a call.
    const open = /^\s*(?:\{|<\|python_tag\|>|$)/.test(rest)
    return { ...thought, text: open ? '' : rest }
  }
  const at = rest.indexOf(mark)
  const before = at >= 0 ? rest.slice(0, at) : ended ? rest : withoutBegunMark(rest, [mark])
  return { ...thought, text: before.trimEnd() }
}

/** The part that has become final since the last call. */
export interface OutputDelta {
  text: string
  reasoning: string
}

/** Turns a stream of tokens into pieces of text. Calls come at the end, whole. */
export interface OutputStream {
  push(token: number): OutputDelta
  /** The remaining text, with the whole output. */
  end(read: Pick<ChatOutput, 'text' | 'reasoning'>): OutputDelta
}

/** `stops`: texts that end the output and are not part of it. */
export function createOutputStream(format: ChatFormat, stops: readonly string[] = []): OutputStream {
  const tokens: number[] = []
  const sent = { text: '', reasoning: '' }
  const advance = (text: string, reasoning: string): OutputDelta => {
    const delta = { text: newPart(sent.text, text), reasoning: newPart(sent.reasoning, reasoning) }
    sent.text += delta.text
    sent.reasoning += delta.reasoning
    return delta
  }
  return {
    push(token) {
      tokens.push(token)
      const { text, reasoning = '' } = format.visible(Int32Array.from(tokens))
      return advance(withoutBegunMark(cutAtStop(text, stops), stops), reasoning)
    },
    end: ({ text, reasoning = '' }) => advance(text, reasoning),
  }
}

/** The text before the first stop text. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return found.length === 0 ? text : text.slice(0, Math.min(...found))
}

function newPart(sent: string, now: string): string {
  return now.startsWith(sent) ? now.slice(sent.length) : ''
}
