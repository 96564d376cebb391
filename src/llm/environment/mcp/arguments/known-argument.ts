import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import type { PlainObject } from '../salient.ts'
import { isWritten } from './argument-kinds.ts'
import { nameInDatabase } from './database-arguments.ts'
import type { Hints } from './hints.ts'
import { asksForText, existingText, keyFor, knownValue, pickSource } from './known-records.ts'
import { knownSource, type Making, type Place, weightOf } from './making.ts'
import { elementArgument } from './page-elements.ts'
import { resolveSchema, typeOf } from './schema-parts.ts'

/** The value of a known record for a property; undefined if none fits, or a new one is wanted. */
export function knownArgument(
  { path, name }: Place,
  property: JsonSchema,
  root: JsonSchema,
  {
    source,
    changed,
    hints,
    beside,
  }: { source: PlainObject | undefined; changed: boolean; hints: Hints; beside: PlainObject },
  context: Making,
): unknown {
  const ofElement = elementArgument(name, property, source, beside, {
    random: context.random,
    records: [...context.known, ...(context.recent ?? [])],
  })
  if (ofElement !== undefined) {
    context.uses.push({ path, source: knownSource(ofElement) })
    return ofElement
  }
  if (hints.existing === false || isWritten(name, property, context)) return undefined
  const inDatabase = nameInDatabase(name, beside, context)
  if (inDatabase !== undefined && (context.reuse || hints.existing === true))
    return fit(inDatabase, property, root, context)
  // The server said that the value must exist, or the description does.
  const weigh = (_: string, value: unknown): number => weightOf(context, path, knownSource(value))
  const exists = hints.existing === true || asksForText(name, property['description'])
  const from = source ?? (exists ? pickSource([name], context, { weigh }) : undefined)
  if (from === undefined || (changed && hints.existing !== true)) return undefined
  // An example says more than a text of a record under another name.
  if ((hints.examples?.length ?? 0) > 0 && keyFor(name, from) === undefined) return undefined
  const weight = weightOf(context, path, 'known')
  if (weight < 1 && hints.existing !== true && context.random.next() >= weight) return undefined
  const value = fit(
    existingText(name, property['description'], from) ?? knownValue(name, from, context),
    property,
    root,
    context,
  )
  if (value !== undefined) context.uses.push({ path, source: 'known' }, { path, source: knownSource(value) })
  return value
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
