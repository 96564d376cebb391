/** What has to be said at the end. */
export type WantedAnswer =
  /** Anything: the work was the point. But the agent has to come to an end by itself. */
  | { kind: 'any' }
  /** A text; `others` are the values it could be mixed up with. */
  | { kind: 'text'; text: string; others: readonly string[] }
  | { kind: 'number'; number: number }

/** How much may stand around the wanted value: room for "The file says ...", none for listing everything. */
const surroundings = 80

/**
 * Whether this answer gives what was wanted. Space, quotes and a full stop around it do not count; upper and lower case
 * do. A text must be the wanted one, or hold it as a whole in a short sentence that holds none of the values it
 * could be mixed up with. A number must be the only one said.
 */
export function answers(wanted: WantedAnswer, answer: string | null): boolean {
  if (answer === null || answer.trim() === '') return false
  if (wanted.kind === 'any') return true
  if (wanted.kind === 'number') {
    const numbers = answer.match(/\d+(?:\.\d+)?/g) ?? []
    return numbers.length === 1 && Number(numbers[0]) === wanted.number && !answer.includes('-')
  }
  const said = bare(answer)
  const text = bare(wanted.text)
  if (said === text) return true
  if (said.length > text.length + surroundings || !holds(said, text)) return false
  const rest = said.replace(text, ' ')
  return !wanted.others.some((other) => other !== '' && holds(rest, bare(other)))
}

const bare = (text: string): string =>
  text
    .trim()
    .replace(/^["'`“]+|["'`”.\s]+$/g, '')
    .trim()

/** Holds the value as a whole: not as a part of a longer word or path. */
function holds(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const before = text.charAt(at - 1)
    const after = text.slice(at + value.length)
    if (!/[\w/.-]/.test(before) && !/^(?:[\w/-]|\.\w)/.test(after)) return true
  }
  return false
}
