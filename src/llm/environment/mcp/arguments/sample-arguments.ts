import type { Random } from '../../../../engine/random/index.ts'
import { limitedWork, type Work, WorkLimit } from '../../../../untrusted/linear-pattern.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'
import { knownValue, namingProperty, pickSource } from './known-records.ts'
import { sampleString } from './sample-string.ts'
import { asArray, asNumber, asObject, resolveSchema, typeOf, UnusableSchema } from './schema-parts.ts'
import type { SplitWords } from './words.ts'

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
