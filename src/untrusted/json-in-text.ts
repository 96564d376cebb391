/** Words before the JSON of a result: more than this are a text that quotes JSON. */
const longestLead = 200

/**
 * Where the JSON of a text begins: at its front, on a line of its own, or after a colon. Undefined if it has none there.
 *
 * @example
 * jsonStart('Found 2 rows:\n[{"id":1},{"id":2}]') // 14
 */
export function jsonStart(text: string): number | undefined {
  const front = text.slice(0, longestLead + 2)
  const found = /(?:^|[\n:])\s*(?=[[{]\s*(?:["{[\]}\d-]|$))/.exec(front)
  if (found === null) return undefined
  return found.index + found[0].length
}

/**
 * Where the JSON of a text begins and ends. A few lines without brackets and quotes may follow it.
 *
 * @example
 * jsonPart('[{"id":1}]\nTook 4 ms') // { from: 0, to: 10 }
 */
export function jsonPart(text: string): { from: number; to: number } | undefined {
  const from = jsonStart(text)
  if (from === undefined) return undefined
  const [trail = ''] = /\n[^[\]{}"]{1,200}$/.exec(text.slice(Math.max(from, text.length - 201))) ?? []
  return { from, to: text.length - trail.length }
}
