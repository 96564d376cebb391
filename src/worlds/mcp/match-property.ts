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
  if (Object.hasOwn(record, name)) return record[name]
  const words = spoken(name).map(singular)
  const keys = Object.keys(record)
  const same = keys.find((key) => spoken(key).map(singular).join(' ') === words.join(' '))
  if (same !== undefined) return record[same]
  const last = words.at(-1)
  const similar = keys.find((key) => {
    const other = spoken(key).map(singular)
    return other.at(-1) === last && (other.length === 1 || words.length === 1)
  })
  if (similar !== undefined) return record[similar]
  if (last === undefined || !lookup.has(last)) return undefined
  return Object.values(record).find((value) => typeof value === 'string')
}
