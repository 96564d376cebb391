import { singular } from '../request/inflect.ts'
import { isNoun, nameWords } from '../request/name-words.ts'
import { isPlainObject, objectsIn, jsonOfResult, type PlainObject } from '../salient.ts'

/** A list of records in a result. */
export interface Table {
  /** Property names that lead to the list. */
  path: readonly string[]
  /** What one record is called: "entity". */
  noun: string
  records: readonly PlainObject[]
}

/** A plain value of a record that can be said in a request or an answer. */
export type Plain = string | number | boolean

const longest = 40

/** The value of a result: JSON, or an object of lines such as "Temperature: 20". Undefined for any other text. */
export function readResult(text: string): unknown {
  const json = jsonOfResult(text)
  if (json !== undefined) return json
  if (text.endsWith('…')) return undefined
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const pairs = lines.flatMap((line) => {
    const pair = /^[-*]?\s*\**([\p{L}][\p{L}\p{N} _-]{0,30})\**\s*:\s+(\S.*)$/u.exec(line)
    return pair === null ? [] : [[pair[1], pair[2].replace(/\**$/, '')] as const]
  })
  if (pairs.length < 2 || pairs.length < lines.length * 0.6) return undefined
  return new Set(pairs.map(([key]) => key)).size < pairs.length ? undefined : Object.fromEntries(pairs)
}

/** The lists of records in a value, outermost first. Lists inside records are not tables of their own. */
export function tablesIn(value: unknown, fallback: string, path: readonly string[] = []): Table[] {
  if (Array.isArray(value))
    return value.length === 0 || !value.every(isPlainObject)
      ? []
      : [{ path, noun: recordNoun(path.at(-1), fallback), records: value }]
  if (!isPlainObject(value)) return []
  return Object.entries(value).flatMap(([key, item]) => tablesIn(item, fallback, [...path, key]))
}

const hollow = new Set(
  'data results items list rows values records entries content matches result'.split(' '),
)

function recordNoun(key: string | undefined, fallback: string): string {
  const words = key === undefined ? [] : nameWords(key)
  const head = words.at(-1)
  if (head === undefined || (hollow.has(head) && fallback !== '')) return fallback === '' ? 'entry' : fallback
  return [...words.slice(0, -1), singular(head)].join(' ')
}

/** The records at the place of a table in another result of the same tool. */
export function tableAt(text: string, { path }: Pick<Table, 'path'>): readonly PlainObject[] {
  let value = readResult(text)
  for (const key of path) value = isPlainObject(value) ? value[key] : undefined
  return Array.isArray(value) ? value.filter(isPlainObject) : []
}

/** Two properties of a record as a demonstration says them, the one by which it is found first: "name: Blue ink, price: 12". */
export function saidOfRecord(record: PlainObject, by: string, of: string): string {
  return `${by}: ${String(record[by])}, ${of}: ${String(record[of])}`
}

/** A value short enough for a sentence, without line breaks. */
export function isSayable(value: unknown): value is Plain {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'boolean') return true
  return typeof value === 'string' && value.trim() !== '' && value.length <= longest && !/[\n"]/.test(value)
}

/** The properties of which all records have a sayable value, apart from those in `ignore`. */
export function sayableKeys({ records }: Table, ignore: readonly string[]): string[] {
  return Object.keys(records[0]).filter(
    (key) => !ignore.includes(key) && isNoun(key) && records.every((record) => isSayable(record[key])),
  )
}

/** Properties that name a record. */
export function isNaming(key: string): boolean {
  return /^(?:name|title|label|id|key|path|code|slug|email|user|username)$/.test(nameWords(key).at(-1) ?? '')
}

/** Whether each record has another value of this property. */
export function isUnique({ records }: Table, key: string): boolean {
  return new Set(records.map((record) => String(record[key]).toLowerCase())).size === records.length
}

/** All plain values in a result, as text. */
export function valuesIn(value: unknown): string[] {
  const plain = (item: unknown): unknown[] => (Array.isArray(item) ? item.flatMap(plain) : [item])
  const values = objectsIn(value).flatMap((record) => Object.values(record).flatMap(plain))
  return [...new Set(values.filter(isSayable).map(String))]
}
