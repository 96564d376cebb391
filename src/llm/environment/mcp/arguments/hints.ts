import { defined } from '../../../../defined.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'

/** What is known about a value beyond its schema, from a description or an error message. */
export interface Hints {
  /** The only values that are allowed. */
  values?: readonly (string | number)[]
  /** Values that would do, or that show the form. */
  examples?: readonly (string | number)[]
  low?: number
  high?: number
  shortest?: number
  longest?: number
  pattern?: string
  /** A text that shows the format of a date or time. */
  moment?: string
  /** Words about what is expected, read like a description. */
  said?: string
  /** The type that a server asked for. */
  type?: string
  required?: boolean
  /** The value must not be given. */
  forbidden?: boolean
  /** It refers to something that exists already (true), or must not exist yet (false). */
  existing?: boolean
  /** A folder that paths must lie in. */
  folder?: string
}

const mostText = 2000
const mostValues = 40
const quoted = /`([^`\n]{1,60})`|"([^"\n]{1,60})"|(?<![\w])'([^'\n]{1,60})'(?!\w)|“([^”\n]{1,60})”/g

function quotedIn(text: string): string[] {
  return [...text.matchAll(quoted)].map((found) =>
    (found[1] ?? found[2] ?? found[3] ?? found[4] ?? '').trim(),
  )
}

/** Splits `a, b or c`, `a|b|c` and `"a", "b"` into values; [] if they do not read like names. */
export function listedValues(text: string): string[] {
  const named = quotedIn(text)
  if (named.length > 1) return named.slice(0, mostValues)
  const inner = text.replace(/^[\s([{<]+|[\s)\]}>.;]+$/g, '')
  const parts = inner
    .split(/\s*(?:,\s*(?:and|or)\s+|[,|/]|\s(?:and|or)\s)\s*/)
    .map((part) => part.trim().replace(/^["'`]|["'`]$/g, ''))
    .filter((part) => part !== '')
  const plain = parts.every((part) => /^[\w.+#:-]{1,30}$/.test(part))
  return parts.length > 1 && plain ? parts.slice(0, mostValues) : []
}

const number = '(-?\\d+(?:[.,]\\d{3})*(?:\\.\\d+)?)'
const between = new RegExp(
  `(?:between|from|range(?: of)?)\\s*[[(]?\\s*${number}\\s*(?:and|to|-|–|,|\\.\\.)\\s*${number}`,
  'i',
)
const bracketed = new RegExp(`[[(]\\s*${number}\\s*(?:-|–|to|\\.\\.)\\s*${number}\\s*[\\])]`)
const atLeast = new RegExp(
  `(?:at least|minimum(?: (?:of|is|value))?:?|min:?|>=|≥|no less than)\\s*${number}`,
  'i',
)
const atMost = new RegExp(
  `(?:at most|up to|maximum(?: (?:of|is|value))?:?|max:?|<=|≤|no more than)\\s*${number}`,
  'i',
)
const above = new RegExp(`(?:greater than|more than|above|exceed|>)\\s*${number}`, 'i')
const below = new RegExp(`(?:less than|below|under|<)\\s*${number}`, 'i')

const toNumber = (text: string): number => Number(text.replaceAll(/,(?=\d{3})/g, ''))

/** The range of numbers that a text names. Bounds that a number may not reach count as one beyond for whole numbers. */
export function rangeIn(text: string): { low?: number; high?: number } {
  const both = between.exec(text) ?? bracketed.exec(text)
  if (both !== null) {
    const [low, high] = [toNumber(both[1]), toNumber(both[2])]
    return low <= high ? { low, high } : {}
  }
  const found: { low?: number; high?: number } = {}
  const low = atLeast.exec(text)
  const high = atMost.exec(text)
  const over = low === null ? above.exec(text) : null
  const under = high === null ? below.exec(text) : null
  if (low !== null) found.low = toNumber(low[1])
  else if (over !== null) found.low = toNumber(over[1]) + 1
  else if (/\bpositive\b|must be > ?0/i.test(text)) found.low = 1
  else if (/\bnon-?negative\b|\b(?:0|zero)-based\b/i.test(text)) found.low = 0
  if (high !== null) found.high = toNumber(high[1])
  else if (under !== null) found.high = toNumber(under[1]) - 1
  else if (/\bpercent(?:age)?\b/i.test(text) && found.low === undefined) return { low: 0, high: 100 }
  return found
}

const choices =
  /(?:(?:must be |can be |should be )?(?:one|any) of(?: the following| the (?:allowed|valid|supported) \w+| these)?|allowed values?|valid (?:values?|options?|choices)|possible values?|accepted values?|supported (?:values?|types?|formats?)|options?|values?|choose from|either)(?: are| is| include)?\s*[:=]?\s*((?:[^.;\n(]|\.(?=\w))+|\([^)]*\))/i

/** The values that a text allows, if it lists them. */
export function choicesIn(text: string): string[] {
  const [, list] = choices.exec(text) ?? []
  const found = list === undefined ? [] : listedValues(list)
  if (found.length > 1) return found
  // "(asc or desc)", "('low', 'medium', 'high')", "low | medium | high"
  const [, bare] =
    /\(((?:['"`]?[\w.-]+['"`]?(?:\s*[,|/]\s*(?:or\s+)?|\s+or\s+))+['"`]?[\w.-]+['"`]?)\)/.exec(text) ?? []
  if (bare !== undefined && !/e\.g|such as|example|optional|default/i.test(bare)) return listedValues(bare)
  return /^\s*["'`]?[\w-]+["'`]?(?:\s*\|\s*["'`]?[\w-]+["'`]?)+/.test(text)
    ? listedValues(text.split(/[.;\n]/)[0])
    : []
}

const exampleMark =
  /(?:\be\.?\s?g\.?,?:?|\bfor (?:example|instance),?:?|\bexamples?:?|\bex:|\bsuch as|\blike(?=\s+["'`“])|\bi\.e\.,?)\s*/gi

/** The examples that a text gives: `e.g. 'Europe/London'`, `for example 2024-01-31`, `such as "bug", "feature"`. */
export function examplesIn(text: string): string[] {
  const found: string[] = []
  for (const mark of text.matchAll(exampleMark)) {
    const rest = text.slice(mark.index + mark[0].length)
    const clause = /^(?:[^.;)\n]|\.(?=[\w/*-])|\)(?=\w))*/.exec(rest)?.[0] ?? ''
    const named = quotedIn(clause)
    if (named.length > 0) found.push(...named)
    else
      found.push(
        ...clause
          .split(/,\s+|\s+or\s+|\s+and\s+/)
          .map((part) => part.trim().replace(/^[("'`]+|[)"'`,]+$/g, ''))
          .filter((part) => /^\S{1,60}$/.test(part) && part !== 'etc'),
      )
  }
  return [...new Set(found)].filter((example) => example !== '').slice(0, mostValues)
}

const dateLetters =
  /\b(?:YYYY|DD|MM)[-/.](?:MM|DD)(?:[-/.](?:DD|YYYY))?(?:[T ]HH:mm(?::ss)?(?:\.SSS)?Z?)?\b|\bHH:mm(?::ss)?\b/i

/** What a description says about the value of its property. Longer descriptions are cut to 2,000 characters. */
export function hintsOfDescription(description: unknown): Hints {
  if (typeof description !== 'string') return {}
  const text = description.slice(0, mostText)
  const values = choicesIn(text)
  const examples = examplesIn(text)
  const [letters] = dateLetters.exec(text) ?? []
  return {
    ...rangeIn(text),
    ...(values.length > 1 ? { values } : {}),
    ...(examples.length > 0 ? { examples } : {}),
    ...defined({ moment: letters }),
  }
}

const readDescriptions = new WeakMap<JsonSchema, Hints>()

/** The hints of a property: what its description says, replaced where an error message said more. */
export function hintsOf(schema: JsonSchema, learnt: Hints | undefined): Hints {
  let said = readDescriptions.get(schema)
  if (said === undefined) {
    said = hintsOfDescription(schema['description'])
    const listed = schema['examples']
    const given = Array.isArray(listed)
      ? listed.filter((item): item is string | number => typeof item === 'string' || typeof item === 'number')
      : []
    const fallback = schema['default']
    const usual = typeof fallback === 'string' && fallback !== '' ? [fallback] : []
    const examples = [...given, ...(said.examples ?? []), ...usual]
    if (examples.length > 0) said = { ...said, examples }
    readDescriptions.set(schema, said)
  }
  return learnt === undefined ? said : { ...said, ...learnt }
}

/** Properties of an object schema by name; {} if there are none. */
export function propertiesOf(schema: JsonSchema): Record<string, PlainObject> {
  const properties = schema['properties']
  if (!isPlainObject(properties)) return {}
  return Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, PlainObject] => isPlainObject(entry[1])),
  )
}
