import type { AgogeError } from '../../../error.ts'
import { refuse } from './refusal.ts'

export type Fields = Readonly<Record<string, unknown>>

/** Reads of a request's body, each of which refuses what is not as the protocol says, naming the field. */
export function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw wrong(where, value, 'an object')
}

export function optionalFields(fields: Fields, name: string): Fields | undefined {
  return isMissing(fields, name) ? undefined : fieldsOf(fields[name], name)
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string' && value !== '') return value
  throw wrong(name, value, 'a text')
}

export function optionalText(fields: Fields, name: string): string | undefined {
  return isMissing(fields, name) ? undefined : textOf(fields, name)
}

export function numberOf(
  fields: Fields,
  name: string,
  otherwise: number | undefined,
  least = -Infinity,
): number {
  if (otherwise !== undefined && isMissing(fields, name)) return otherwise
  const value = fields[name]
  if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value
  throw wrong(name, value, least === -Infinity ? 'a number' : `a number of at least ${least}`)
}

export function countOf(fields: Fields, name: string, otherwise: number | undefined, least = 0): number {
  const value = numberOf(fields, name, otherwise, least)
  if (Number.isSafeInteger(value)) return value
  throw wrong(name, value, `a whole number of at least ${least}`)
}

export function optionalCount(fields: Fields, name: string, least = 0): number | undefined {
  return isMissing(fields, name) ? undefined : countOf(fields, name, undefined, least)
}

export function flagOf(fields: Fields, name: string, otherwise: boolean): boolean {
  if (isMissing(fields, name)) return otherwise
  const value = fields[name]
  if (typeof value === 'boolean') return value
  throw wrong(name, value, 'true or false')
}

export function listOf(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name]
  if (Array.isArray(value)) return value as unknown[]
  throw wrong(name, value, 'a list')
}

/** Numbers of a list or of the typed array that a protobuf body brought. */
export function numbersOf(fields: Fields, name: string): ArrayLike<number> {
  const value = fields[name]
  if (value instanceof Float32Array || value instanceof Int32Array || value instanceof Float64Array)
    return value
  const list = listOf(fields, name)
  const odd = list.findIndex((each) => typeof each !== 'number')
  if (odd < 0) return list as readonly number[]
  throw wrong(`${name}[${odd}]`, list[odd], 'a number')
}

/** Names of checkpoints become names of folders. */
export function nameOf(fields: Fields, name: string): string | undefined {
  const value = optionalText(fields, name)
  if (value === undefined || (/^[A-Za-z0-9_.-]{1,200}$/.test(value) && !/^\.+$/.test(value))) return value
  throw wrong(name, value, 'up to 200 letters, digits, dots, - and _')
}

function isMissing(fields: Fields, name: string): boolean {
  return fields[name] === undefined || fields[name] === null
}

function wrong(name: string, given: unknown, expected: string): AgogeError {
  const shown = given === undefined ? 'nothing' : given
  return refuse('tinker-bad-request', `The field ${name} is wrong`, { given: shown, expected })
}
