import { compilePattern, isRecord, resolveReference } from './schema-check.ts'
import type { JsonSchema } from './types.ts'

/**
 * Checks arguments against a tool's input schema. Covers what tools use of JSON Schema (draft 7 and 2020-12): types,
 * properties, required, additionalProperties, enum, const, items, prefixItems, bounds, lengths, pattern, the
 * combinators and local references; other keywords are ignored.
 *
 * @returns The first problem in few words that do not depend on anything but schema and value, e.g.
 * `"path" is missing`; undefined where there is none.
 */
export function validateArguments(schema: JsonSchema, value: unknown): string | undefined {
  if (!isRecord(value)) return 'arguments must be an object'
  return problem(schema, value, '', schema, 0)
}

type Check = (schema: Record<string, unknown>, value: unknown, at: string) => string | undefined

function problem(
  schema: unknown,
  value: unknown,
  at: string,
  root: JsonSchema,
  depth: number,
): string | undefined {
  if (schema === true || !(schema === false || isRecord(schema))) return undefined
  const label = at === '' ? 'arguments' : `"${at}"`
  if (schema === false) return `${label} is not allowed`
  if (depth > 64) return `${label} is nested too deep`
  const inner = (next: unknown, item: unknown, place: string): string | undefined =>
    problem(next, item, place, root, depth + 1)
  if (typeof schema.$ref === 'string') {
    const found = inner(resolveReference(root, schema.$ref), value, at)
    if (found !== undefined) return found
  }
  for (const check of [checkType, checkChoice, checkNumber, checkString]) {
    const found = check(schema, value, label)
    if (found !== undefined) return found
  }
  if (isRecord(value)) {
    const found = checkObject(schema, value, at, inner)
    if (found !== undefined) return found
  }
  if (Array.isArray(value)) {
    const found = checkArray(schema, value, at, label, inner)
    if (found !== undefined) return found
  }
  return checkCombinators(schema, value, at, label, inner)
}

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

const checkType: Check = (schema, value, label) => {
  if (schema.type === undefined) return undefined
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (types.some((type) => hasType(value, type))) return undefined
  return `${label} must be ${types.map((type) => typeWords[String(type)] ?? String(type)).join(' or ')}`
}

const checkChoice: Check = (schema, value, label) => {
  if (Array.isArray(schema.enum) && !schema.enum.some((choice) => equal(choice, value))) {
    return `${label} must be one of ${schema.enum.map((choice) => JSON.stringify(choice)).join(', ')}`
  }
  if ('const' in schema && !equal(schema.const, value))
    return `${label} must be ${JSON.stringify(schema.const)}`
  return undefined
}

const checkNumber: Check = (schema, value, label) => {
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

const checkString: Check = (schema, value, label) => {
  if (typeof value !== 'string') return undefined
  const { minLength, maxLength, pattern } = schema
  // Characters, as JSON Schema counts them, not UTF-16 units.
  const length = Array.from(value).length
  if (typeof minLength === 'number' && length < minLength)
    return `${label} must have at least ${minLength} characters`
  if (typeof maxLength === 'number' && length > maxLength)
    return `${label} must have at most ${maxLength} characters`
  if (compilePattern(pattern)?.test(value) === false) return `${label} must match ${String(pattern)}`
  return undefined
}

type Inner = (schema: unknown, value: unknown, at: string) => string | undefined

function checkObject(
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  at: string,
  inner: Inner,
): string | undefined {
  const place = (key: string): string => (at === '' ? key : `${at}.${key}`)
  if (Array.isArray(schema.required)) {
    for (const key of schema.required) {
      if (!Object.hasOwn(value, String(key))) return `"${place(String(key))}" is missing`
    }
  }
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const patterns = isRecord(schema.patternProperties) ? Object.entries(schema.patternProperties) : []
  for (const [key, item] of Object.entries(value)) {
    const matching = patterns
      .filter(([pattern]) => compilePattern(pattern)?.test(key) === true)
      .map(([, next]) => next)
    if (Object.hasOwn(properties, key)) matching.push(properties[key])
    if (matching.length === 0 && schema.additionalProperties !== undefined) {
      if (schema.additionalProperties === false) return `"${place(key)}" is not an argument`
      matching.push(schema.additionalProperties)
    }
    for (const next of matching) {
      const found = inner(next, item, place(key))
      if (found !== undefined) return found
    }
  }
  return undefined
}

function checkArray(
  schema: Record<string, unknown>,
  value: unknown[],
  at: string,
  label: string,
  inner: Inner,
): string | undefined {
  const { minItems, maxItems, items, prefixItems } = schema
  if (typeof minItems === 'number' && value.length < minItems)
    return `${label} must have at least ${minItems} items`
  if (typeof maxItems === 'number' && value.length > maxItems)
    return `${label} must have at most ${maxItems} items`
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
  const rest = Array.isArray(items) ? schema.additionalItems : items
  for (const [i, item] of value.entries()) {
    const found = inner(i < first.length ? first[i] : rest, item, `${at}[${i}]`)
    if (found !== undefined) return found
  }
  return undefined
}

function checkCombinators(
  schema: Record<string, unknown>,
  value: unknown,
  at: string,
  label: string,
  inner: Inner,
): string | undefined {
  const { allOf, anyOf, oneOf } = schema
  for (const next of Array.isArray(allOf) ? allOf : []) {
    const found = inner(next, value, at)
    if (found !== undefined) return found
  }
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list)) continue
    const problems = list.map((next) => inner(next, value, at))
    if (!problems.includes(undefined))
      return list.length === 1 ? problems[0] : `${label} fits none of the allowed forms`
  }
  if (Array.isArray(oneOf) && oneOf.filter((next) => inner(next, value, at) === undefined).length > 1) {
    return `${label} fits more than one of the allowed forms`
  }
  if (schema.not !== undefined && inner(schema.not, value, at) === undefined) return `${label} is not allowed`
  return undefined
}

function equal(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equal(item, b[i]))
  if (isRecord(a) && isRecord(b)) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
    )
  }
  return a === b
}
