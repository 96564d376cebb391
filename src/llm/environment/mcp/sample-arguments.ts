import type { Random } from '../../../engine/random/index.ts'
import { limitedWork, type Work, WorkLimit } from '../../../untrusted/linear-pattern.ts'
import { type JsonSchema, resolveReference } from '../../../untrusted/schema-check.ts'
import { isPlainObject, type PlainObject } from './salient.ts'
import { sampleString, type SplitWords, spoken } from './sample-string.ts'

function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  return word.endsWith('s') && !word.endsWith('ss') && word.length > 3 ? word.slice(0, -1) : word
}

/** Properties used for searching. Any name of a known record may serve as their value. */
const lookup = new Set([
  'query',
  'search',
  'term',
  'keyword',
  'q',
  'key',
  'id',
  'name',
  'path',
  'file',
  'filename',
  'source',
])

/**
 * Returns the value of a known record that a property of this name most likely refers to: the same name, its singular
 * or plural, or the same last word (`entityName` and `name`). For a query, the first text of the record.
 */
function matchProperty(name: string, record: PlainObject): unknown {
  const key = keyFor(name, record)
  if (key !== undefined) return record[key]
  const last = spoken(name).map(singular).at(-1)
  if (last === undefined || !lookup.has(last)) return undefined
  return Object.values(record).find((value) => typeof value === 'string')
}

/**
 * Scores how well properties of these names can be filled from a record. A property of the record scores more than any
 * text in it.
 */
function matchStrength(names: readonly string[], record: PlainObject): number {
  return names.reduce((sum, name) => {
    if (matchProperty(name, record) === undefined) return sum
    return sum + (keyFor(name, record) === undefined ? 1 : 2)
  }, 0)
}

/** The property that identifies a record among these: an id if there is one, else the record's first property. */
function namingProperty(names: readonly string[], record: PlainObject): string | undefined {
  const own = names.filter((name) => keyFor(name, record) !== undefined)
  return own.find(isId) ?? own[0]
}

/** Whether a property of this name refers to something by its id. */
function isId(name: string): boolean {
  return ['id', 'uuid', 'key'].includes(spoken(name).at(-1) ?? '')
}

/** The property of a record that a property of this name refers to; undefined if the record has none. */
function keyFor(name: string, record: PlainObject): string | undefined {
  if (Object.hasOwn(record, name)) return name
  const words = spoken(name).map(singular)
  const keys = Object.keys(record)
  const same = keys.find((key) => spoken(key).map(singular).join(' ') === words.join(' '))
  if (same !== undefined) return same
  const last = words.at(-1)
  return keys.find((key) => {
    const other = spoken(key).map(singular)
    return other.at(-1) === last && (other.length === 1 || words.length === 1)
  })
}

interface SampleContext {
  random: Random
  words: SplitWords
  /** Records known to exist in the state. With `reuse`, arguments refer to them if property names match. */
  known: readonly PlainObject[]
  /** Records made for this task. They are preferred over known ones that match equally well. Default: none. */
  recent?: readonly PlainObject[]
  reuse: boolean
  /**
   * The tool changes the record: half of the time only the identifying properties come from the record. Default: false.
   */
  changes?: boolean
  /** An optional property that is always set. */
  always?: string
}

/** Why no arguments match a schema, with the place in the schema. */
export class UnusableSchema extends Error {
  constructor(place: string, reason: string) {
    super(`${place === '' ? 'its input schema' : place}: ${reason}`)
    this.name = 'UnusableSchema'
  }
}

/** Work limit for the arguments of one call: properties, candidate values, characters of patterns. */
const mostSteps = 1_000_000

interface Making extends SampleContext {
  work: Work
}

interface Place {
  /** Dotted path for messages. */
  path: string
  /** Nearest property name. */
  name: string
  depth: number
}

/**
 * Draws arguments that the schema accepts: natural words by property name, small numbers, members of enums, lists of
 * one or two items, and some of the optional properties.
 *
 * @throws UnusableSchema if the schema requires a value that cannot be made.
 */
export function sampleArguments(schema: JsonSchema, context: SampleContext): Record<string, unknown> {
  const making: Making = { ...context, work: limitedWork(mostSteps) }
  try {
    const value = sample(schema, schema, { path: '', name: '', depth: 0 }, making)
    if (!isPlainObject(value)) throw new UnusableSchema('', 'is not of type object')
    return value
  } catch (error) {
    if (error instanceof WorkLimit) throw new UnusableSchema('', `making up its arguments: ${error.message}`)
    throw error
  }
}

/** Resolved schemas by the root they belong to; null while one is being resolved. */
const resolved = new WeakMap<JsonSchema, WeakMap<JsonSchema, JsonSchema | null>>()

/**
 * Resolves `$ref` (local only), takes the first usable alternative of anyOf/oneOf, and merges allOf. Each part of a
 * schema is resolved once.
 */
export function resolveSchema(schema: JsonSchema | boolean, root: JsonSchema, place = ''): JsonSchema {
  if (!isPlainObject(schema)) {
    if (schema === true) return {}
    throw new UnusableSchema(place, 'no value is allowed')
  }
  const parts = resolved.get(root) ?? new WeakMap<JsonSchema, JsonSchema | null>()
  resolved.set(root, parts)
  const known = parts.get(schema)
  if (known === null) throw new UnusableSchema(place, 'the schema leads back to where it stands')
  if (known !== undefined) return known
  parts.set(schema, null)
  try {
    const found = resolveOnce(schema, root, place)
    parts.set(schema, found)
    return found
  } finally {
    if (parts.get(schema) === null) parts.delete(schema)
  }
}

function resolveOnce(schema: JsonSchema, root: JsonSchema, place: string): JsonSchema {
  const reference = schema['$ref']
  if (typeof reference === 'string') {
    const target = resolveReference(root, reference)
    if (!isPlainObject(target)) throw new UnusableSchema(place, `the reference ${reference} leads nowhere`)
    return resolveSchema(target, root, place)
  }
  let current = schema
  const choices = current['anyOf'] ?? current['oneOf']
  if (Array.isArray(choices)) {
    const usable = choices.filter((choice) => isPlainObject(choice) && choice['type'] !== 'null')
    if (usable.length === 0) throw new UnusableSchema(place, 'no alternative can be used')
    const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = current
    current = { ...rest, ...resolveSchema(usable[0] as JsonSchema, root, place) }
  }
  if (Array.isArray(current['allOf'])) {
    const { allOf, ...rest } = current
    const parts = (allOf as (JsonSchema | boolean)[]).map((part) => resolveSchema(part, root, place))
    current = parts.reduce<JsonSchema>((all, part) => mergeObjects(all, part), rest)
  }
  return current
}

function mergeObjects(left: JsonSchema, right: JsonSchema): JsonSchema {
  const required = [...new Set([...asArray(left['required']), ...asArray(right['required'])])]
  const properties = { ...asObject(left['properties']), ...asObject(right['properties']) }
  const merged: Record<string, unknown> = { ...left, ...right }
  if (required.length > 0) merged['required'] = required
  if (Object.keys(properties).length > 0) merged['properties'] = properties
  return merged
}

/** Names of the required arguments. */
export function requiredOf(schema: JsonSchema): readonly unknown[] {
  return asArray(schema['required'])
}

/** The type to make: the first that is not null. Inferred from the keywords if `type` is missing. */
export function typeOf(schema: JsonSchema): string | undefined {
  const type = schema['type']
  if (Array.isArray(type)) return type.find((item) => item !== 'null') as string | undefined
  if (typeof type === 'string') return type
  if ('properties' in schema) return 'object'
  if ('items' in schema) return 'array'
  return undefined
}

function sample(
  given: JsonSchema,
  root: JsonSchema,
  place: Place,
  context: Making,
  source?: PlainObject,
): unknown {
  if (place.depth > 6) throw new UnusableSchema(place.path, 'is nested too deeply')
  const { random, work } = context
  work.spend(1)
  const schema = resolveSchema(given, root, place.path)
  if ('const' in schema) return schema['const']
  const members = schema['enum']
  if (Array.isArray(members)) {
    if (members.length === 0) throw new UnusableSchema(place.path, 'an empty enum')
    return random.pick(members)
  }
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, root, place, context, source)
    case 'array':
      return sampleArray(schema, root, place, context)
    case 'string':
      try {
        return sampleString(place.name, schema, context.words, random, work)
      } catch (error) {
        if (error instanceof WorkLimit) throw error
        throw new UnusableSchema(place.path, (error as Error).message)
      }
    case 'boolean':
      return random.next() < 0.5
    case 'integer':
    case 'number':
      return sampleNumber(schema, place, random)
    case 'null':
      return null
    case undefined:
      if (place.depth > 0) return sampleString(place.name, schema, context.words, random, work)
  }
  throw new UnusableSchema(place.path, `cannot make a value of type ${JSON.stringify(schema['type'])}`)
}

function sampleObject(
  schema: JsonSchema,
  root: JsonSchema,
  place: Place,
  context: Making,
  given?: PlainObject,
): PlainObject {
  const properties = asObject(schema['properties']) as Record<string, JsonSchema>
  const required = asArray(schema['required'])
  const names = Object.keys(properties)
  const needed = new Set(required)
  context.work.spend(names.length + required.length)
  for (const name of required) {
    if (!Object.hasOwn(properties, String(name))) {
      throw new UnusableSchema(place.path, `requires "${String(name)}" but does not describe it`)
    }
  }
  const source = given ?? (context.reuse ? pickSource(names, context) : undefined)
  const naming =
    source !== undefined && context.changes === true && context.random.next() < 0.5
      ? namingProperty(names, source)
      : undefined
  // A tool without required arguments gets at least one optional argument, because a call without any is uninformative.
  const often = required.length === 0 ? 2 : 1
  const made: PlainObject = {}
  for (const name of names) {
    const property = resolveSchema(properties[name], root, name)
    const optional = !needed.has(name) && name !== context.always
    if (optional && context.random.next() >= ('default' in property ? 0.15 : 0.3) * often) continue
    const at = { path: place.path === '' ? name : `${place.path}.${name}`, name, depth: place.depth + 1 }
    const known =
      source === undefined || (naming !== undefined && name !== naming)
        ? undefined
        : fit(knownValue(name, source, context), property, root, context)
    try {
      made[name] = known ?? sample(property, root, at, context, source)
    } catch (error) {
      if (!optional || !(error instanceof UnusableSchema)) throw error
    }
  }
  return made
}

/** Returns the property's value in the record, or an id of another record if this one has none. */
function knownValue(name: string, source: PlainObject, context: SampleContext): unknown {
  if (isId(name) && keyFor(name, source) === undefined) {
    const others = [...(context.recent ?? []), ...context.known].filter(
      (record) => keyFor(name, record) !== undefined,
    )
    if (others.length > 0) return matchProperty(name, context.random.pick(others))
  }
  return matchProperty(name, source)
}

/**
 * Returns one of the records that share the most property names with the object, preferring records made for this task.
 */
function pickSource(names: readonly string[], context: Making): PlainObject | undefined {
  const all = [...context.known, ...(context.recent ?? [])]
  const keys = all.reduce((sum, record) => sum + Object.keys(record).length, 0)
  context.work.spend(names.length * keys)
  const best = (records: readonly PlainObject[]): { fit: number; records: PlainObject[] } => {
    const fits = records.map((record) => matchStrength(names, record))
    const fit = Math.max(0, ...fits)
    return { fit, records: records.filter((_, index) => fits[index] === fit) }
  }
  const known = best(context.known)
  const recent = best(context.recent ?? [])
  const chosen = recent.fit >= known.fit ? recent : known
  return chosen.fit === 0 ? undefined : context.random.pick(chosen.records)
}

/**
 * Returns a known value in the shape that the schema requires, if possible: alone, in a list, or one item of a list.
 */
function fit(value: unknown, schema: JsonSchema, root: JsonSchema, context: Making): unknown {
  if (value === undefined || value === null || 'enum' in schema || 'const' in schema) return undefined
  const type = typeOf(schema)
  if (type === 'array') {
    const items = resolveSchema((schema['items'] ?? {}) as JsonSchema, root)
    const list = Array.isArray(value) ? value.slice(0, 1 + context.random.int(2)) : [value]
    return list.length > 0 && list.every((item) => typeof item === (typeOf(items) ?? 'string'))
      ? list
      : undefined
  }
  const single: unknown = Array.isArray(value) && value.length > 0 ? context.random.pick(value) : value
  const wanted = type === 'integer' ? 'number' : (type ?? 'string')
  return typeof single === wanted && wanted !== 'object' ? single : undefined
}

function sampleArray(schema: JsonSchema, root: JsonSchema, place: Place, context: Making): unknown[] {
  const items = schema['items'] ?? { type: 'string' }
  if (!isPlainObject(items)) throw new UnusableSchema(place.path, 'its items are not one schema')
  const least = Math.max(1, asNumber(schema['minItems']) ?? 1)
  if (least > 4) throw new UnusableSchema(place.path, `needs ${least} items`)
  const most = Math.min(asNumber(schema['maxItems']) ?? 2, Math.max(2, least))
  // Mostly one item: two double the length of the request.
  const count = most > least && context.random.next() < 0.2 ? least + 1 : least
  const made: unknown[] = []
  for (let attempt = 0; made.length < count && attempt < 20; attempt++) {
    const item = sample(items, root, { ...place, path: `${place.path}[]`, depth: place.depth + 1 }, context)
    const twice = made.some((other) => JSON.stringify(other) === JSON.stringify(item))
    // Distinct items are preferred, but the schema may allow only equal ones.
    if (!twice || (attempt > 10 && schema['uniqueItems'] !== true)) made.push(item)
  }
  if (made.length < least) throw new UnusableSchema(place.path, `needs ${least} different items`)
  return made
}

function sampleNumber(schema: JsonSchema, place: Place, random: Random): number {
  const step = asNumber(schema['multipleOf']) ?? 1
  const low = asNumber(schema['minimum']) ?? (asNumber(schema['exclusiveMinimum']) ?? -1) + step
  const high =
    asNumber(schema['maximum']) ?? (asNumber(schema['exclusiveMaximum']) ?? low + 100 * step) - step
  const first = Math.ceil(low / step)
  const last = Math.min(Math.floor(high / step), first + 99)
  if (last < first) {
    if (low <= high) return low
    throw new UnusableSchema(place.path, `no number between ${low} and ${high}`)
  }
  return Number(((first + random.int(last - first + 1)) * step).toPrecision(12))
}

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function asObject(value: unknown): PlainObject {
  return isPlainObject(value) ? value : {}
}
