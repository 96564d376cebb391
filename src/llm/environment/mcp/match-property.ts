import type { PlainObject } from './json-walk.ts'
import { spoken } from './words.ts'

function singular(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`
  return word.endsWith('s') && !word.endsWith('ss') && word.length > 3 ? word.slice(0, -1) : word
}

/** Properties by which things are looked up: any name of a known record may serve. */
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
 * The value of a known record that a property of this name most likely refers to: the same name, the same name in
 * singular or plural, the same last word (`entityName` and `name`); for a query, the first text of the record.
 */
export function matchProperty(name: string, record: PlainObject): unknown {
  const key = keyFor(name, record)
  if (key !== undefined) return record[key]
  const last = spoken(name).map(singular).at(-1)
  if (last === undefined || !lookup.has(last)) return undefined
  return Object.values(record).find((value) => typeof value === 'string')
}

/** How well properties of these names can be taken from a record; a property of the record itself counts more than any text of it. */
export function matchStrength(names: readonly string[], record: PlainObject): number {
  return names.reduce((sum, name) => {
    if (matchProperty(name, record) === undefined) return sum
    return sum + (keyFor(name, record) === undefined ? 1 : 2)
  }, 0)
}

/** The property by which a record is named among these: an id where there is one, else the first that the record has. */
export function namingProperty(names: readonly string[], record: PlainObject): string | undefined {
  const own = names.filter((name) => keyFor(name, record) !== undefined)
  return own.find(isId) ?? own[0]
}

/** Does a property of this name refer to something by its id? */
export function isId(name: string): boolean {
  return ['id', 'uuid', 'key'].includes(spoken(name).at(-1) ?? '')
}

/** The property of a record that one of this name refers to, if the record has one. */
export function keyFor(name: string, record: PlainObject): string | undefined {
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
