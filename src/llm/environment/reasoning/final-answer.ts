/** A reply is read from its end; more than this of it is not looked at. */
const longestRead = 8000

const marker = /\banswer(?:\s+is)?\s*[:=]?/gi

/**
 * What a reply gives as its answer: the inside of the last `<answer>` or `\boxed{}`, or what follows the last "answer is" or
 * "Answer:". Without any of these it may be the whole reply or its last line.
 */
export function finalAnswers(reply: string): string[] {
  const text = reply.slice(-longestRead)
  const tagged = between(text, '<answer>', '</answer>') ?? between(text, '\\boxed{', '}')
  if (tagged !== undefined) return [bare(tagged)]
  const marked = [...text.matchAll(marker)].at(-1)
  if (marked !== undefined) return [bare(text.slice(marked.index + marked[0].length))]
  const whole = bare(text)
  const last = bare(whole.slice(whole.lastIndexOf('\n') + 1))
  return whole === last ? [whole] : [whole, last]
}

/** What stands between the last opening and the closing after it; undefined where there is no such pair. */
function between(text: string, open: string, close: string): string | undefined {
  const from = text.lastIndexOf(open)
  if (from < 0) return undefined
  const to = close === '}' ? text.lastIndexOf(close) : text.toLowerCase().indexOf(close, from + open.length)
  return to < from + open.length ? undefined : text.slice(from + open.length, to)
}

/** Without spaces, quotes, emphasis and a full stop around it, and with single spaces within its lines. */
function bare(text: string): string {
  return text
    .trim()
    .replace(/^[\s"'`*$“”]+/, '')
    .replace(/[\s"'`*$“”.!]+$/, '')
    .replaceAll(/[ \t\r]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
}
