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
