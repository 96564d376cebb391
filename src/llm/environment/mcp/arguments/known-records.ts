import type { Random } from '../../../../engine/random/index.ts'
import type { Work } from '../../../../untrusted/linear-pattern.ts'
import type { PlainObject } from '../salient.ts'
import { remembered } from './remembered.ts'
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

/** The words of a name in the singular. */
const singularWords = remembered((name): readonly string[] => spoken(name).map(singular))

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
  'table',
  'collection',
  'column',
  'list',
  'project',
  'category',
  'tag',
  'folder',
  'directory',
])

/** The tool whose result showed a record. */
const origins = new WeakMap<PlainObject, string>()

/** Remembers that a tool showed these records, so that `project_id` refers to one of `list_projects`. */
export function noteOrigin(records: readonly PlainObject[], tool: string): void {
  for (const record of records) origins.set(record, tool)
}

/** Whether the tool that showed a record speaks of what a property is about: `projectId` and `list_projects`. */
function comesFrom(name: string, record: PlainObject): boolean {
  const origin = origins.get(record)
  if (origin === undefined) return false
  const words = singularWords(origin)
  return singularWords(name).some((word) => word.length > 2 && word !== 'name' && words.includes(word))
}

/**
 * Returns the value of a known record that a property of this name most likely refers to: the same name, its singular
 * or plural, or the same last word (`entityName` and `name`). For a query, the first text of the record.
 */
function matchProperty(name: string, record: PlainObject): unknown {
  const key = keyFor(name, record)
  if (key !== undefined) return record[key]
  const last = singularWords(name).at(-1)
  if (last === undefined || !lookup.has(last)) return undefined
  const texts = Object.values(record).filter((value) => typeof value === 'string')
  // A file of which only the path is known is nothing but a file.
  if (!pathNames.has(last)) return Object.keys(record).join() === 'path' ? undefined : texts[0]
  const { path, name: own } = record
  return isText(path)
    ? path
    : // A person is no file, although both have a name.
      isText(own) && (pathKind(record) !== undefined || /\.\w{1,5}$/.test(own))
      ? own
      : texts.find((text) => /^[\w./\\-]+(?:[/\\][\w.-]+|\.\w{1,5})$/.test(text))
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Names of paths. A text that is no path is none. */
const pathNames = new Set(['path', 'file', 'filename', 'source', 'folder', 'directory'])

/**
 * Scores how well properties of these names can be filled from a record. A property of the record scores more than any
 * text in it.
 */
function matchStrength(names: readonly string[], record: PlainObject): number {
  return names.reduce((sum, name) => {
    if (matchProperty(name, record) === undefined) return sum
    return sum + (keyFor(name, record) === undefined ? 1 : 2) + (comesFrom(name, record) ? 0.5 : 0)
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
export function keyFor(name: string, record: PlainObject): string | undefined {
  if (Object.hasOwn(record, name)) return name
  const words = singularWords(name)
  const keys = Object.keys(record)
  const same = keys.find((key) => singularWords(key).join(' ') === words.join(' '))
  if (same !== undefined) return same
  const last = words.at(-1)
  return keys.find((key) => {
    const other = singularWords(key)
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
export function pickSource(
  names: readonly string[],
  given: Known,
  { path, text = false, weigh }: SourceWish = {},
): PlainObject | undefined {
  const fitting = (records: readonly PlainObject[]): readonly PlainObject[] => {
    const kind =
      path === undefined ? records : records.filter((record) => (pathKind(record) ?? path) === path)
    const written = text ? kind.filter(hasContent) : []
    return written.length > 0 ? written : kind
  }
  const all = [...given.known, ...(given.recent ?? [])]
  const keys = all.reduce((sum, record) => sum + Object.keys(record).length, 0)
  given.work.spend(names.length * keys)
  const best = (
    records: readonly PlainObject[],
  ): { fit: number; records: PlainObject[]; others: PlainObject[] } => {
    const fits = records.map((record) => matchStrength(names, record))
    const fit = Math.max(0, ...fits)
    return {
      fit,
      records: records.filter((_, index) => fits[index] === fit),
      others: records.filter((_, index) => fits[index] > 0 && fits[index] < fit),
    }
  }
  const known = best(fitting(given.known))
  const recent = best(fitting(given.recent ?? []))
  const chosen = recent.fit >= known.fit ? recent : known
  if (chosen.fit === 0) return undefined
  if (weigh === undefined) return given.random.pick(chosen.records)
  const value = (record: PlainObject): number =>
    Math.min(...names.map((name) => weigh(name, matchProperty(name, record))))
  let weights = chosen.records.map(value)
  let records = chosen.records
  // Records whose values were refused are gone, or are of another kind.
  if (Math.max(...weights) < 0.3) {
    records = [...records, ...chosen.others, ...(chosen === recent ? known.records : recent.records)]
    weights = records.map(value)
  }
  return records[given.random.weighted(weights)]
}

/** What a record is wanted for. */
export interface SourceWish {
  /** The kind of paths that the arguments name. */
  path?: 'file' | 'directory' | undefined
  /** A record with a text is better. */
  text?: boolean
  /** How well a value of a property did before. Default: 1 for all. */
  weigh?: (name: string, value: unknown) => number
}

function hasContent(record: PlainObject): boolean {
  return Object.entries(record).some(([key, value]) => contentName.test(key) && typeof value === 'string')
}

const contentName = /^(?:content|contents|text|body|data)$/i

/** Whether a record is about a file or a folder; undefined if it says neither. */
function pathKind(record: PlainObject): 'file' | 'directory' | undefined {
  const { type, path } = record
  if (typeof type === 'string' && /^(?:dir|directory|folder)$/i.test(type)) return 'directory'
  if (typeof type === 'string' && /^file$/i.test(type)) return 'file'
  if (record['isDirectory'] === true || record['isDirectory'] === 'true') return 'directory'
  if (typeof path !== 'string') return undefined
  if (hasContent(record)) return 'file'
  return /\.\w{1,5}$/.test(path) ? 'file' : 'directory'
}

/** Whether a property asks for a text that is there already, such as the `oldText` of an edit. */
export function asksForText(name: string, description: unknown): boolean {
  return (
    /^(?:old|search|find|original|existing|target)(?:$|[A-Z_-])/.test(name) ||
    (typeof description === 'string' &&
      /\bmust match\b|\btext to (?:search|find|replace|wait for(?! to (?:disappear|vanish)))\b/i.test(
        description,
      ))
  )
}

/** The first line of a record's content, for a property that asks for a text that is there; else undefined. */
export function existingText(name: string, description: unknown, record: PlainObject): string | undefined {
  if (!asksForText(name, description)) return undefined
  const texts = Object.entries(record).flatMap(([key, value]) =>
    typeof value === 'string' && contentName.test(key) ? [value] : [],
  )
  return texts[0]?.split('\n')[0]
}
