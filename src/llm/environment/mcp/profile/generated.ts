import { isPlainObject, parseJson } from '../salient.ts'

/**
 * Values that a server makes up anew in every state, such as ids and times. They are recognised by where they stand and
 * what they look like, and are given names by their order of appearance when states are compared.
 */
export interface GeneratedValues {
  /** `PROPERTY SHAPE` of the values that differed between two fresh states. */
  places: Set<string>
  /** Values that a fresh state always has. They are not made up, wherever they stand. */
  known: Set<string>
}

export function noGeneratedValues(): GeneratedValues {
  return { places: new Set(), known: new Set() }
}

/** Property names of the values that are made up. */
export function generatedNames({ places }: GeneratedValues): string[] {
  return [...new Set([...places].map((place) => place.slice(0, place.lastIndexOf(' '))))].filter(Boolean)
}

type Shape = 'uuid' | 'time' | 'duration' | 'code' | 'number'

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/
const written =
  /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d\d? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (?:\d\d? )?\d{4} \d\d:\d\d:\d\d(?: GMT(?:[+-]\d{4})?(?: \([^)]*\))?)?/
const numeric =
  /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d?\/\d\d?\/\d{2,4}(?:,? \d\d?:\d\d(?::\d\d)?(?: ?[AP]M)?)?|(?<!\d)\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[AP]M)?(?!\d)/
const time = new RegExp(`${written.source}|${numeric.source}`)
/** How long something took: `2.31 ms`. */
const duration = /(?<![\w.])\d+(?:\.\d+)?\s?(?:[mµn]s|milliseconds?|seconds?)(?![\w])/
// Letters and digits mixed, as in nano-ids and hashes; a word or a version has no such mixture of eight characters.
const code = /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,}(?![\w-])/
const number = /(?<![\w.])\d{4,}(?![\w]|\.\d)/
const token = new RegExp(
  [uuid, time, duration, code, number].map(({ source }) => `(${source})`).join('|'),
  'gi',
)

function shapeOfToken(text: string): Shape {
  if (new RegExp(`^${uuid.source}$`, 'i').test(text)) return 'uuid'
  if (new RegExp(`^(?:${time.source})$`, 'i').test(text)) return 'time'
  if (new RegExp(`^${duration.source}$`, 'i').test(text)) return 'duration'
  return /^\d+$/.test(text) ? (isNow(Number(text)) ? 'time' : 'number') : 'code'
}

/** Whether a number is a time of today, in seconds or milliseconds since 1970. */
function isNow(value: number): boolean {
  const day = 86_400_000
  return [value, value * 1000].some((milliseconds) => Math.abs(milliseconds - Date.now()) < day)
}

/** The shape of a whole value; undefined if it is not of the kind that is made up. */
function shapeOf(value: unknown): Shape | undefined {
  if (typeof value === 'number') return isNow(value) ? 'time' : Math.abs(value) >= 1000 ? 'number' : undefined
  if (typeof value !== 'string') return undefined
  const [found] = [...value.trim().matchAll(token)]
  return found?.[0] === value.trim() ? shapeOfToken(found[0]) : undefined
}

/** A text with everything that may be made up replaced by its shape. */
function blankText(text: string): string {
  return text.replaceAll(token, (found) => `<${shapeOfToken(found)}>`)
}

type Leaf = string | number | boolean | null | undefined

/** Replaces every leaf of a value. `name` is the closest property above it. */
function mapLeaves(value: unknown, change: (leaf: Leaf, name: string) => unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => mapLeaves(item, change, name))
  if (!isPlainObject(value)) return change(value as Leaf, name)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapLeaves(item, change, key)] as const),
  )
}

const blankLeaf = (leaf: Leaf): unknown => {
  const shape = shapeOf(leaf)
  return shape === undefined ? (typeof leaf === 'string' ? blankText(leaf) : leaf) : `<${shape}>`
}

/** Sorts object keys, and lists of records by their blanked form: the order of creation is not part of a state. */
function sorted(value: unknown, blank: (leaf: Leaf, name: string) => unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(item, blank))
    if (!items.some(isPlainObject)) return items
    const keyed = items.map((item) => ({ item, key: JSON.stringify(mapLeaves(item, blank)) }))
    return keyed
      .toSorted((left, right) => (left.key < right.key ? -1 : Number(left.key > right.key)))
      .map(({ item }) => item)
  }
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key], blank)]),
  )
}

/**
 * A result as JSON if it is JSON, otherwise as text without runs of white space. Elements of a page are numbered by their
 * order, because their references (`[ref=e5]`) depend on what was looked at before.
 */
function readResult(text: string): unknown {
  const json = parseJson(text)
  if (json !== undefined) return keysAsValues(json)
  const refs = new Map<string, string>()
  return text
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\[ref=([\w-]+)\]/g, (_, ref: string) => {
      if (!refs.has(ref)) refs.set(ref, `[ref=#${refs.size + 1}]`)
      return refs.get(ref) ?? ''
    })
}

/** Writes an object by id (`{ "x7f3a9c2": {...} }`) as a list of records, so that its keys are compared like values. */
function keysAsValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keysAsValues)
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value).map(([key, item]) => [key, keysAsValues(item)] as const)
  if (!entries.some(([key]) => blankText(key) !== key)) return Object.fromEntries(entries)
  return entries.map(([key, item]) => ({ '#key': key, '#value': item }))
}

/** What the difference between two results says. */
export type Difference =
  | { kind: 'same' }
  /** Only values that look made up differ; `places` says where. */
  | { kind: 'generated'; places: string[] }
  /** Something else differs. */
  | { kind: 'other' }

/** Compares two results that should be the same apart from values that the server made up. */
export function compareResults(first: string, second: string): Difference {
  if (first === second) return { kind: 'same' }
  const [left, right] = [first, second].map((text) => sorted(readResult(text), blankLeaf))
  const blank = (value: unknown): string => JSON.stringify(mapLeaves(value, blankLeaf))
  if (blank(left) !== blank(right)) return { kind: 'other' }
  const leaves: { leaf: Leaf; name: string }[][] = [left, right].map((value) => {
    const found: { leaf: Leaf; name: string }[] = []
    mapLeaves(value, (leaf, name) => found.push({ leaf, name }))
    return found
  })
  const places = new Set<string>()
  for (const [index, { leaf, name }] of leaves[0].entries()) {
    if (leaf !== leaves[1][index].leaf) places.add(`${name} ${shapeOf(leaf) ?? 'text'}`)
  }
  // The same records in another order.
  return places.size === 0 ? { kind: 'same' } : { kind: 'generated', places: [...places] }
}

/** The values of one result that a server made up, and those in their places in another, as `[old, new]`. */
export function madeUpAnew(old: string, now: string): [string, unknown][] {
  if (compareResults(old, now).kind !== 'generated') return []
  const leaves = [old, now].map((text) => {
    const found: Leaf[] = []
    mapLeaves(sorted(readResult(text), blankLeaf), (leaf) => found.push(leaf))
    return found
  })
  return leaves[0].flatMap((leaf, index): [string, unknown][] => {
    const other = leaves[1][index]
    if (leaf === other) return []
    if (shapeOf(leaf) !== undefined) return [[String(leaf), other]]
    const parts = [...String(leaf).matchAll(token)].map(([part]) => part)
    const others = [...String(other).matchAll(token)].map(([part]) => part)
    return parts.flatMap((part, at): [string, unknown][] => (part === others[at] ? [] : [[part, others[at]]]))
  })
}

/** Where a result has the present moment, as `PROPERTY time`: two calls may fall into the same second. */
export function momentPlaces(text: string): string[] {
  const places = new Set<string>()
  mapLeaves(readResult(text), (leaf, name) => {
    if (isMoment(leaf)) places.add(`${name} time`)
  })
  return [...places]
}

/** Whether a value is a date with a time, or a number of seconds or milliseconds, of the last hour or the next. */
function isMoment(leaf: Leaf): boolean {
  const value =
    typeof leaf === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^[A-Z][a-z]{2},? .*\d\d:\d\d:\d\d/.test(leaf)
      ? Date.parse(leaf)
      : Number(leaf)
  return [value, value * 1000].some((milliseconds) => Math.abs(milliseconds - Date.now()) < 3_600_000)
}

/** The plain values of a result, as text. */
export function valuesOf(text: string): string[] {
  const found: string[] = []
  mapLeaves(readResult(text), (leaf) => {
    found.push(String(leaf))
    if (typeof leaf === 'string') for (const [part] of leaf.matchAll(token)) found.push(part)
  })
  return found
}

/**
 * Writes results in a form that is equal for equal states: sorted, without the ignored properties, and with the values
 * that were made up named by their order of appearance (`<uuid 1>`). Times are all called `<time>`, because two records
 * may or may not be created within the same second.
 */
export function canonicalResults(
  texts: readonly string[],
  generated: GeneratedValues,
  ignore: readonly string[] = [],
): string {
  const values = texts.map((text) => withoutProperties(readResult(text), new Set(ignore)))
  const made = new Map<string, Shape>()
  const note = (value: string, shape: Shape): void => {
    if (!generated.known.has(value)) made.set(value, shape)
  }
  mapLeaves(values, (leaf, name) => {
    const shape = shapeOf(leaf)
    const generatedHere = shape !== undefined && generated.places.has(`${name} ${shape}`)
    if (shape !== undefined && (generatedHere || (shape === 'time' && isMoment(leaf))))
      note(String(leaf), shape)
    if (typeof leaf !== 'string' || !generated.places.has(`${name} text`)) return
    for (const [part] of leaf.matchAll(token)) note(part, shapeOfToken(part))
  })
  if (made.size === 0) return finish(values.map((value) => sorted(value, (leaf) => leaf)))
  const naming =
    (name: (value: string, shape: Shape) => string) =>
    (leaf: Leaf): unknown => {
      const shape = made.get(String(leaf))
      if (shape !== undefined) return name(String(leaf), shape)
      if (typeof leaf !== 'string') return leaf
      return leaf.replaceAll(token, (part) => {
        const inner = made.get(part)
        return inner === undefined ? part : name(part, inner)
      })
    }
  const ordered = values.map((value) =>
    sorted(
      value,
      naming((_, shape) => `<${shape}>`),
    ),
  )
  const names = new Map<string, string>()
  const nameOf = (value: string, shape: Shape): string => {
    if (shape === 'time') return '<time>'
    const name = names.get(value) ?? `<${shape} ${names.size + 1}>`
    names.set(value, name)
    return name
  }
  return finish(ordered.map((value) => mapLeaves(value, naming(nameOf))))
}

function finish(values: readonly unknown[]): string {
  return values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join('\n')
}

function withoutProperties(value: unknown, ignore: ReadonlySet<string>): unknown {
  if (ignore.size === 0) return value
  if (Array.isArray(value)) return value.map((item) => withoutProperties(item, ignore))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !ignore.has(key))
      .map(([key, item]) => [key, withoutProperties(item, ignore)]),
  )
}
