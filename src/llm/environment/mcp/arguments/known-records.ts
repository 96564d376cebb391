import type { Random } from '../../../../engine/random/index.ts'
import type { Work } from '../../../../untrusted/linear-pattern.ts'
import type { PlainObject } from '../salient.ts'
import { spoken } from './words.ts'

/** What arguments may refer to. */
export interface Known {
  random: Random
  work: Work
  /** Records known to exist in the state. */
  known: readonly PlainObject[]
  /** Records made for this task. They are preferred over known ones that match equally well. Default: none. */
  recent?: readonly PlainObject[]
}

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
export function namingProperty(names: readonly string[], record: PlainObject): string | undefined {
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

/** Returns the property's value in the record, or an id of another record if this one has none. */
export function knownValue(name: string, source: PlainObject, context: Known): unknown {
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
export function pickSource(names: readonly string[], context: Known): PlainObject | undefined {
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
