import { splitThoughts } from './read-template-output.ts'
import type { TemplateStyle } from './template-style.ts'

/** Without the beginning of a character whose other bytes are still to come. */
export function wholeCharacters(text: string): string {
  return text.replace(/\uFFFD{1,3}$/, '')
}

/** Without an end that may be the beginning of one of the marks. */
export function withoutBegunMark(text: string, marks: readonly string[]): string {
  const longest = marks.flatMap((mark) =>
    Array.from({ length: Math.min(mark.length - 1, text.length) }, (_, i) => i + 1).filter((length) =>
      text.endsWith(mark.slice(0, length)),
    ),
  )
  return text.slice(0, text.length - Math.max(0, ...longest))
}

const mark = '<tool_call>'

/** What is sure of an output of a public model that still grows; see `readTemplateOutput`. */
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
    // Thoughts are trimmed once they have come to their end.
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
