import type { Random } from '../../engine/random/index.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { isRecord, resolveReference } from '../../untrusted/schema-check.ts'
import type { JsonSchema } from '../../untrusted/schema-check.ts'

/** Values beyond this number are not collected from one text. */
const mostValues = 200
const longestValue = 200
/** Bounded: from each of many quotes that open, a reader would look for one that closes. */
const quotedText = /["'`“]([^"'`”]{1,200})["'`”]/g
/** Longest text that is made up for a schema that wants a long one. */
const longestMade = 10_000

/**
 * Returns the values that a text shows: the leaves of JSON, or lines with the parts of `key: value`, list items, quoted texts and
 * numbers. In the order in which they occur, without repetitions; then the keys of JSON, which may be names.
 *
 * @param options.keys false leaves out the keys. Default: true.
 */
export function valuesIn(text: string, { keys = true }: { keys?: boolean } = {}): string[] {
  const found = new Set<string>()
  const add = (value: string): void => {
    const plain = value.trim()
    if (plain !== '' && plain.length <= longestValue && found.size < mostValues) found.add(plain)
  }
  const data = parsed(text)
  if (data !== undefined)
    for (const value of [...leavesOf(data), ...(keys ? keysOf(data) : [])]) add(String(value))
  else
    for (const line of text.split(/\r?\n/).slice(0, mostValues)) {
      const item = line.replace(/^\s*(?:[-*•]|\[[ x]\]|\[(?:FILE|DIR)\]|\d+[.)])\s+/i, '')
      add(item)
      for (const part of item.split(/:\s|\s[-–=]\s|[,;|\t]\s*|\s\(|\)/)) add(part)
      for (const [, quoted] of item.matchAll(quotedText)) add(quoted)
      for (const [number] of item.matchAll(/\d+(?:\.\d+)?/g)) add(number)
    }
  return [...found]
}

/** Returns the words, numbers and quoted texts of a request, without its punctuation. */
export function wordsIn(text: string): string[] {
  const quoted = [...text.matchAll(quotedText)].map(([, inside]) => inside)
  const words = text
    .split(/\s+/)
    .map((word) => word.replace(/^["'`(“]+|(?<!["'`)”.,;:!?])["'`)”.,;:!?]+$/g, ''))
  return [...new Set([...quoted, ...words])].filter(Boolean).slice(0, mostValues)
}

function parsed(text: string): unknown {
  if (!/^\s*[[{"]/.test(text)) return undefined
  try {
    return parseForeignJson(text)
  } catch {
    return undefined
  }
}

/** The plain values inside data, in order. */
function leavesOf(data: unknown): (string | number | boolean)[] {
  if (typeof data === 'string' || typeof data === 'number' || typeof data === 'boolean') return [data]
  return typeof data === 'object' && data !== null ? Object.values(data).flatMap(leavesOf) : []
}

function keysOf(data: unknown): string[] {
  if (typeof data !== 'object' || data === null) return []
  const inside = Object.values(data).flatMap(keysOf)
  return Array.isArray(data) ? inside : [...Object.keys(data), ...inside]
}

/** How `fillArguments` finds values. */
export interface ArgumentSource {
  random: Random
  /** Values that were seen. */
  values: readonly string[]
  /** Arguments of another call. A property of the same name takes its value, and else one of the same type. */
  like?: Readonly<Record<string, unknown>>
}

/**
 * Makes arguments for a schema from values that were seen. Enums, bounds and types are kept to where the schema states them, so
 * that most calls reach the tool.
 */
export function fillArguments(schema: JsonSchema, source: ArgumentSource): Record<string, unknown> {
  const made = fill(schema, schema, source, '', 0)
  return isRecord(made) ? made : {}
}

function fill(
  given: unknown,
  root: JsonSchema,
  source: ArgumentSource,
  name: string,
  depth: number,
): unknown {
  const { random, values, like = {} } = source
  const schema = resolved(given, root, random)
  const type = Array.isArray(schema['type'])
    ? random.pick(schema['type'] as string[])
    : (schema['type'] ?? ('properties' in schema ? 'object' : 'string'))
  if (name !== '' && Object.hasOwn(like, name) && typeof like[name] === basicType(type)) return like[name]
  if ('const' in schema) return schema['const']
  const choices = schema['enum']
  if (Array.isArray(choices) && choices.length > 0) return random.pick(choices)
  if (type === 'object') {
    const properties = isRecord(schema['properties']) ? schema['properties'] : {}
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    if (depth > 6) return {}
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([key]) => required.includes(key) || Object.hasOwn(like, key) || random.int(3) === 0)
        .map(([key, part]) => [key, fill(part, root, source, key, depth + 1)]),
    )
  }
  if (type === 'array') {
    const length = Math.max(numberIn(schema, 'minItems') ?? 0, depth > 6 ? 0 : 1)
    return Array.from({ length: Math.min(length, 10) }, () =>
      fill(schema['items'] ?? {}, root, source, '', depth + 1),
    )
  }
  if (type === 'boolean') return random.int(2) === 0
  if (type === 'null') return null
  if (type === 'integer' || type === 'number') return numberFor(schema, source)
  const same = Object.values(like).filter((value) => typeof value === 'string')
  if (same.length > 0) return random.pick(same)
  const longest = numberIn(schema, 'maxLength') ?? longestValue
  const fitting = values.filter((value) => value.length <= longest)
  return fitting.length === 0
    ? 'x'.repeat(Math.min(longestMade, Math.max(1, numberIn(schema, 'minLength') ?? 1)))
    : random.pick(fitting)
}

const basicType = (type: unknown): string =>
  type === 'integer' ? 'number' : type === 'array' ? 'object' : String(type)

/** A number of a foreign schema; undefined if it is none. */
function numberIn(schema: JsonSchema, name: string): number | undefined {
  const value = schema[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

function numberFor(schema: JsonSchema, { random, values }: ArgumentSource): number {
  const low = numberIn(schema, 'minimum') ?? (numberIn(schema, 'exclusiveMinimum') ?? -1) + 1
  const high = numberIn(schema, 'maximum') ?? (numberIn(schema, 'exclusiveMaximum') ?? low + 101) - 1
  const seen = values
    .map(Number)
    .filter((value) => Number.isSafeInteger(value) && value >= low && value <= high)
  if (seen.length > 0 && random.int(2) === 0) return random.pick(seen)
  return low + random.int(Math.max(1, Math.min(1000, Math.floor(high - low) + 1)))
}

function resolved(given: unknown, root: JsonSchema, random: Random): JsonSchema {
  let schema = isRecord(given) ? given : {}
  for (let steps = 0; steps < 8; steps++) {
    const parts = schema['anyOf'] ?? schema['oneOf']
    const next =
      typeof schema['$ref'] === 'string'
        ? resolveReference(root, schema['$ref'])
        : Array.isArray(parts) && parts.length > 0
          ? random.pick(parts)
          : undefined
    if (!isRecord(next)) return schema
    schema = next
  }
  return schema
}
