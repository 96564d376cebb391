import { limitedWork, readPattern, WorkLimit } from './linear-pattern.ts'
import type { Work } from './linear-pattern.ts'
import { isRecord, resolveReference } from './schema-check.ts'
import type { JsonSchema } from './schema-check.ts'

/**
 * Most steps of one check. Comparing a part of the schema with a part of the value takes 50, matching a character a
 * few.
 */
const mostSteps = 2_000_000
const stepsOfPart = 50
const mostNesting = 256

/**
 * Checks arguments against a tool's input schema. Supports what tools use of JSON Schema (draft 7 and 2020-12): types,
 * properties, required, additionalProperties, enum, const, items, prefixItems, bounds, lengths, pattern, the
 * combinators and local references. Other keywords are ignored. Compares each part of the schema with a part of the
 * value once, and stops after two million steps, so no schema or pattern can block the caller.
 *
 * @returns The first problem in a few words that depend only on schema and value, such as `"path" is missing`, also if
 * the check was stopped; undefined if there is none.
 */
export function validateArguments(schema: JsonSchema, value: unknown): string | undefined {
  if (!isRecord(value)) return 'arguments must be an object'
  const check: Check = { root: schema, work: limitedWork(mostSteps), depth: 0 }
  try {
    return problem(schema, value, { at: '', found: new Map(), parts: new Map() }, check)
  } catch (error) {
    if (error instanceof GivenUp) return error.message
    if (error instanceof WorkLimit) return `arguments cannot be checked: ${error.message}`
    throw error
  }
}

interface Check {
  root: JsonSchema
  work: Work
  /** Depth of nested schemas being checked. */
  depth: number
}

/** A place in the value, with the results of checks there. */
interface Place {
  at: string
  /** The problem by schema; null while it is being checked. */
  found: Map<unknown, string | undefined | null>
  parts: Map<string | number, Place>
}

class GivenUp extends Error {}

function within(place: Place, key: string | number, at: string): Place {
  const known = place.parts.get(key)
  if (known !== undefined) return known
  const made = { at, found: new Map(), parts: new Map() }
  place.parts.set(key, made)
  return made
}

const labelOf = ({ at }: Place): string => (at === '' ? 'arguments' : `"${at}"`)

function problem(schema: unknown, value: unknown, place: Place, check: Check): string | undefined {
  if (schema === true || !(schema === false || isRecord(schema))) return undefined
  if (schema === false) return `${labelOf(place)} is not allowed`
  const known = place.found.get(schema)
  if (typeof known === 'string' || (known === undefined && place.found.has(schema))) return known
  if (known === null || ++check.depth > mostNesting) throw new GivenUp(`${labelOf(place)} is nested too deep`)
  check.work.spend(stepsOfPart)
  place.found.set(schema, null)
  const found = problemWith(schema, value, place, check)
  place.found.set(schema, found)
  check.depth--
  return found
}

function problemWith(
  schema: Record<string, unknown>,
  value: unknown,
  place: Place,
  check: Check,
): string | undefined {
  const inner: Inner = (next, item, part) => problem(next, item, part, check)
  const label = labelOf(place)
  if (typeof schema.$ref === 'string') {
    check.work.spend(schema.$ref.length)
    const found = inner(resolveReference(check.root, schema.$ref), value, place)
    if (found !== undefined) return found
  }
  for (const rule of [checkType, checkChoice, checkNumber, checkString]) {
    const found = rule(schema, value, label, check.work)
    if (found !== undefined) return found
  }
  if (isRecord(value)) {
    const found = checkObject(schema, value, place, check.work, inner)
    if (found !== undefined) return found
  }
  if (Array.isArray(value)) {
    const found = checkArray(schema, value, place, inner)
    if (found !== undefined) return found
  }
  return checkCombinators(schema, value, place, inner)
}

type Rule = (schema: Record<string, unknown>, value: unknown, label: string, work: Work) => string | undefined

const typeWords: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

function hasType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    default:
      return typeof value === type
  }
}

const checkType: Rule = (schema, value, label) => {
  if (schema.type === undefined) return undefined
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (types.some((type) => hasType(value, type))) return undefined
  return `${label} must be ${types.map((type) => typeWords[String(type)] ?? String(type)).join(' or ')}`
}

const checkChoice: Rule = (schema, value, label, work) => {
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => equal(choice, value, work))) {
    const choices = schema.enum.map((choice) => JSON.stringify(choice)).join(', ')
    work.spend(choices.length)
    return `${label} must be one of ${choices}`
  }
  if ('const' in schema && !equal(schema.const, value, work))
    return `${label} must be ${JSON.stringify(schema.const)}`
  return undefined
}

const checkNumber: Rule = (schema, value, label) => {
  if (typeof value !== 'number') return undefined
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (typeof minimum === 'number' && value < minimum) return `${label} must be at least ${minimum}`
  if (typeof maximum === 'number' && value > maximum) return `${label} must be at most ${maximum}`
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) {
    return `${label} must be more than ${exclusiveMinimum}`
  }
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) {
    return `${label} must be less than ${exclusiveMaximum}`
  }
  if (typeof multipleOf === 'number' && multipleOf > 0) {
    const quotient = value / multipleOf
    if (Math.abs(quotient - Math.round(quotient)) > 1e-9)
      return `${label} must be a multiple of ${multipleOf}`
  }
  return undefined
}

const checkString: Rule = (schema, value, label, work) => {
  if (typeof value !== 'string') return undefined
  const { minLength, maxLength, pattern } = schema
  work.spend(value.length)
  // Unicode characters, as JSON Schema counts them, not UTF-16 units.
  const length = Array.from(value).length
  if (typeof minLength === 'number' && length < minLength)
    return `${label} must have at least ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength)
    return `${label} must have at most ${maxLength} characters`
  if (typeof pattern !== 'string' || matches(pattern, value, label, work)) return undefined
  return `${label} must match ${pattern}`
}

/** A pattern that cannot be matched fails the check, because nothing else would report it. */
function matches(source: string, text: string, label: string, work: Work): boolean {
  const pattern = readPattern(source)
  if ('unusable' in pattern) throw new GivenUp(`${label} cannot be checked: ${pattern.unusable}`)
  return pattern.test(text, work)
}

type Inner = (schema: unknown, value: unknown, place: Place) => string | undefined

function checkObject(
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  place: Place,
  work: Work,
  inner: Inner,
): string | undefined {
  const at = (key: string): string => (place.at === '' ? key : `${place.at}.${key}`)
  if (Array.isArray(schema.required)) {
    work.spend(schema.required.length)
    for (const key of schema.required) {
      if (!Object.hasOwn(value, String(key))) return `"${at(String(key))}" is missing`
    }
  }
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  const entries = Object.entries(value)
  work.spend(entries.length * (1 + patterns.length))
  for (const [key, item] of entries) {
    const matching = patterns
      .filter(([pattern]) => matches(pattern, key, labelOf(place), work))
      .map(([, next]) => next)
    if (Object.hasOwn(properties, key)) matching.push(properties[key])
    if (matching.length === 0 && schema.additionalProperties !== undefined) {
      if (schema.additionalProperties === false) return `"${at(key)}" is not an argument`
      matching.push(schema.additionalProperties)
    }
    for (const next of matching) {
      const found = inner(next, item, within(place, key, at(key)))
      if (found !== undefined) return found
    }
  }
  return undefined
}

function checkArray(
  schema: Record<string, unknown>,
  value: unknown[],
  place: Place,
  inner: Inner,
): string | undefined {
  const label = labelOf(place)
  const { minItems, maxItems, items, prefixItems } = schema
  if (typeof minItems === 'number' && value.length < minItems)
    return `${label} must have at least ${minItems} items`
  if (typeof maxItems === 'number' && value.length > maxItems)
    return `${label} must have at most ${maxItems} items`
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
  const rest = Array.isArray(items) ? schema.additionalItems : items
  for (const [i, item] of value.entries()) {
    const part: unknown = i < first.length ? first[i] : rest
    // A place for each of many items of which nothing is asked takes longer than all else.
    if (part === undefined) continue
    const found = inner(part, item, within(place, i, `${place.at}[${i}]`))
    if (found !== undefined) return found
  }
  return undefined
}

function checkCombinators(
  schema: Record<string, unknown>,
  value: unknown,
  place: Place,
  inner: Inner,
): string | undefined {
  const label = labelOf(place)
  const { allOf, anyOf, oneOf } = schema
  for (const next of Array.isArray(allOf) ? allOf : []) {
    const found = inner(next, value, place)
    if (found !== undefined) return found
  }
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list)) continue
    const problems = list.map((next) => inner(next, value, place))
    if (!problems.includes(undefined))
      return list.length === 1 ? problems[0] : `${label} fits none of the allowed forms`
  }
  if (Array.isArray(oneOf) && oneOf.filter((next) => inner(next, value, place) === undefined).length > 1) {
    return `${label} fits more than one of the allowed forms`
  }
  if (schema.not !== undefined && inner(schema.not, value, place) === undefined)
    return `${label} is not allowed`
  return undefined
}

function equal(a: unknown, b: unknown, work: Work): boolean {
  work.spend(1)
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i], work))
  if (isRecord(a) && isRecord(b)) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], work))
    )
  }
  return a === b
}
