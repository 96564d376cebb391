import type { Random } from '../../../engine/random/index.ts'
import { jsonPart, jsonStart } from '../../../untrusted/json-in-text.ts'
import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import { spoken } from './arguments/words.ts'
import { dated, isNoun } from './request/name-words.ts'

export type PlainObject = Record<string, unknown>

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses the text if it is a JSON object or array, nested at most 256 levels deep; otherwise undefined. */
export function parseJson(text: string): unknown {
  const first = text.trimStart()[0]
  if (first !== '{' && first !== '[') return undefined
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}

/** The JSON of a result, with words before it ("Found 2 rows: [...]") or lines after it ("[...]\nTook 4 ms"). Else undefined. */
export function jsonOfResult(text: string): unknown {
  const part = jsonPart(text)
  return part === undefined ? undefined : parseJson(text.slice(part.from, part.to))
}

/**
 * What can be read of a JSON text that was cut: everything up to the last whole member or item. Undefined for any other text.
 */
function parseCut(given: string): unknown {
  const start = jsonStart(given)
  if (!given.endsWith('…') || start === undefined) return undefined
  const text = given.slice(start)
  const open: string[] = []
  let whole = ''
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const symbol = text[at]
    if (inString) {
      if (symbol === '\\') at++
      else if (symbol === '"') inString = false
    } else if (symbol === '"') inString = true
    else if (symbol === '{' || symbol === '[') open.push(symbol === '{' ? '}' : ']')
    else if (symbol === '}' || symbol === ']') open.pop()
    else if (symbol === ',') whole = text.slice(0, at) + open.toReversed().join('')
  }
  return parseJson(whole)
}

/** Lists every object inside a value, outermost first. */
export function objectsIn(value: unknown): PlainObject[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  if (!isPlainObject(value)) return []
  return [value, ...Object.values(value).flatMap(objectsIn)]
}

interface Leaf {
  /** Name of the closest property above the value. */
  key: string
  path: readonly (string | number)[]
  value: string | number | boolean
}

/** Lists every string, number and boolean inside a value, in order. */
function leavesOf(value: unknown, path: readonly (string | number)[] = [], key = ''): Leaf[] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return [{ key, path, value }]
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => leavesOf(item, [...path, index], key))
  if (!isPlainObject(value)) return []
  return Object.entries(value).flatMap(([name, item]) => leavesOf(item, [...path, name], name))
}

/** Returns the value at a path; undefined if the path does not exist. */
function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value
  for (const step of path) {
    if (Array.isArray(current) && typeof step === 'number') current = current[step]
    else if (isPlainObject(current) && Object.hasOwn(current, step)) current = current[step]
    else return undefined
  }
  return current
}

/** The part of a result that a task asks for. */
export type Salient =
  | { kind: 'whole' }
  | { kind: 'field'; path: readonly (string | number)[]; words: string }
  | PartOfText

interface PartOfText {
  kind: 'line' | 'sentence'
  which: 'first' | 'last'
}

const longestWhole = 80
const longestField = 40

/** Returns the part as text, from the shown text of a result; undefined if it is not there. */
export function extractSalient(text: string, salient: Salient): string | undefined {
  if (salient.kind === 'whole') return text
  if (salient.kind !== 'field') return partOf(text, salient)
  const value = valueAt(jsonOfResult(text) ?? parseCut(text), salient.path)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

const isShort = (value: string): boolean =>
  value !== '' && value.length <= longestField && !value.includes('\n')

function leavesWithout(json: unknown, ignore: readonly string[]): Leaf[] {
  return leavesOf(json).filter(({ path }) => !path.some((step) => ignore.includes(String(step))))
}

function partOf(text: string, { kind, which }: PartOfText): string {
  const parts = text.split(kind === 'line' ? '\n' : /(?<=[.!?])\s+/)
  return parts.at(which === 'first' ? 0 : -1)?.trim() ?? ''
}

/**
 * Chooses what to ask for: a whole short text, a JSON field whose name occurs once, the first or last line, or the
 * first or last sentence of a single line. Of a text that was cut: a field outside of lists, or what stands first.
 * Prefers fields that the request does not contain, and never asks for those in `ignore`. Returns undefined if nothing is short and unambiguous.
 */
export function chooseSalient(
  text: string,
  request: string,
  random: Random,
  ignore: readonly string[] = [],
): Salient | undefined {
  const cut = parseCut(text)
  const json = jsonOfResult(text) ?? cut
  if (json === undefined) {
    if (text === '') return undefined
    if (text.endsWith('…')) {
      // What stands at the front is seen.
      const kind = text.includes('\n') ? 'line' : 'sentence'
      const part = partOf(text, { kind, which: 'first' })
      return part !== '' && part.length <= longestWhole && !part.endsWith('…')
        ? { kind, which: 'first' }
        : undefined
    }
    if (text.length <= longestWhole && !text.includes('\n')) return { kind: 'whole' }
    const kind = text.includes('\n') ? 'line' : 'sentence'
    const which = random.next() < 0.5 ? 'first' : 'last'
    const other = which === 'first' ? 'last' : 'first'
    // Among several lines one is drawn; between a long and a short sentence the short one is taken.
    const choices: PartOfText[] =
      kind === 'line'
        ? [{ kind, which }]
        : [
            { kind, which },
            { kind, which: other },
          ]
    return choices.find((choice) => {
      const part = partOf(text, choice)
      return part !== '' && part !== text.trim() && part.length <= longestWhole
    })
  }
  // A list that was cut may have more items than are seen.
  const leaves = leavesWithout(json, ignore).filter(
    ({ path }) => cut === undefined || path.every((step) => typeof step === 'string'),
  )
  const fields = leaves.filter((leaf) => {
    const value = String(leaf.value)
    const single = leaves.filter((other) => other.key === leaf.key).length === 1
    return single && leaf.key !== '' && isShort(value)
  })
  const news = fields.filter((leaf) => !containsWhole(request, String(leaf.value)))
  const choices = [news.filter(({ key }) => isNoun(key)), news, fields].find((some) => some.length > 0)
  if (choices === undefined) return undefined
  const leaf = random.pick(choices)
  return { kind: 'field', path: leaf.path, words: dated(spoken(leaf.key)).join(' ') }
}

/**
 * Explains why `chooseSalient` finds nothing in a result, and what to do about it.
 *
 * @param limit characters of a result that the policy sees. A longer result was cut to it.
 */
export function whyNothingSalient(text: string, limit: number): string {
  if (text.trim() === '') return 'its result is empty, so there is nothing to ask for: let it return a value'
  if (text.endsWith('…'))
    return `nothing at the front of its result can be asked for, and it is too long: the model sees ${limit} characters, and the rest is cut off. Let it return less, or raise "resultLimit" (of a server: in its "agoge" entry)`
  const json = jsonOfResult(text)
  if (json === undefined)
    return `its result has lines of more than ${longestWhole} characters, too long for an answer: let it return JSON with short fields`
  const short = leavesOf(json).some(({ key, value }) => key !== '' && isShort(String(value)))
  return short
    ? 'every short field of its result occurs several times, so none can be asked for by name: let it return one record, or a field of its own'
    : `its result has no named field with a value of 1 to ${longestField} characters, so nothing can be asked for by name: let it return one`
}

/** Other values of the result, without the properties in `ignore`. An answer must not list them too. */
export function otherValues(text: string, answer: string, ignore: readonly string[] = []): string[] {
  const json = jsonOfResult(text) ?? parseCut(text)
  if (json === undefined) return []
  const leaves = leavesWithout(json, ignore)
  const values = leaves.map((leaf) => String(leaf.value))
  return [...new Set(values)].filter((value) => value.length > 1 && !containsWhole(answer, value))
}

/** True if `part` occurs in `text` as whole words or numbers. */
export function containsWhole(text: string, part: string): boolean {
  if (part === '') return false
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    // A few characters decide: to search all that is before would take long for a part that occurs often.
    const before = text.slice(Math.max(0, at - 4), at)
    const after = text.slice(at + part.length, at + part.length + 4)
    const startsInside =
      /^[\p{L}\p{N}]/u.test(part) && /[\p{L}\p{N}]$|\d\.$|(?<![\p{L}\p{N}])-$/u.test(before)
    const endsInside = /[\p{L}\p{N}]$/u.test(part) && /^[\p{L}\p{N}]|^\.\d/u.test(after)
    if (!startsInside && !endsInside) return true
  }
  return false
}

/** Default number of characters of a result that the policy sees. */
export const defaultResultLimit = 300

/**
 * Formats a result for the policy: JSON without white space (also between words, `jsonOfResult`), other text without runs of blank lines, cut to `limit`
 * characters with an ellipsis. Deterministic.
 */
export function compactResult(text: string, limit = defaultResultLimit): string {
  const json = jsonOfResult(text)
  const part = json === undefined ? undefined : jsonPart(text)
  const words = (some: string): string =>
    some.replaceAll(/\s+/g, (blank) => (blank.indexOf('\n') < blank.lastIndexOf('\n') ? '\n' : blank))
  const short =
    part === undefined
      ? words(text.trim())
      : `${words(text.slice(0, part.from)).trimStart()}${JSON.stringify(json)}${words(text.slice(part.to)).trimEnd()}`
  const points = Array.from(short.slice(0, 2 * limit + 2))
  return points.length <= limit ? short : `${points.slice(0, limit - 1).join('')}…`
}
