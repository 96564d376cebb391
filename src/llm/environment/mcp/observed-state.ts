import { isPlainObject, parseJson } from './json-walk.ts'

function canonical(value: unknown, ignore: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, ignore))
    // A list of records is a set: who made which first is not part of the state. A list of plain values is a list.
    if (!items.some(isPlainObject)) return items
    return items.map((item) => JSON.stringify(item)).sort()
  }
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .filter((key) => !ignore.has(key))
      .sort()
      .map((key) => [key, canonical(value[key], ignore)]),
  )
}

/**
 * One observation in a form that can be compared: JSON with sorted keys, lists of records in sorted order and the
 * ignored properties (ids, times) left out; other text with its white space collapsed.
 */
export function normaliseObservation(text: string, ignore: readonly string[] = []): string {
  const json = parseJson(text)
  if (json === undefined) return text.trim().replace(/\s+/g, ' ')
  return JSON.stringify(canonical(json, new Set(ignore)))
}
