import { type JsonSchema, resolveReference } from '../../../../untrusted/schema-check.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'

/** Why no arguments match a schema, with the place in the schema. */
export class UnusableSchema extends Error {
  constructor(place: string, reason: string) {
    super(`${place === '' ? 'its input schema' : place}: ${reason}`)
    this.name = 'UnusableSchema'
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
    current = mergeObjects([rest, ...parts])
  }
  return current
}

/** Later ones replace what earlier ones say, except that required names and properties add up. Each part is read once. */
function mergeObjects(all: readonly JsonSchema[]): JsonSchema {
  const required = [...new Set(all.flatMap((part) => asArray(part['required'])))]
  const properties = Object.fromEntries(all.flatMap((part) => Object.entries(asObject(part['properties']))))
  const merged: Record<string, unknown> = Object.fromEntries(all.flatMap((part) => Object.entries(part)))
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

/** The description of a property. Empty if it is no text. */
export function descriptionOf(schema: JsonSchema): string {
  const { description } = schema
  return typeof description === 'string' ? description : ''
}

export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asObject(value: unknown): PlainObject {
  return isPlainObject(value) ? value : {}
}
