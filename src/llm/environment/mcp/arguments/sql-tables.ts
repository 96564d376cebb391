import { isPlainObject, objectsIn, type PlainObject } from '../salient.ts'

/** A table of a database, as far as results and statements have shown it. */
export interface SqlTable {
  name: string
  columns: SqlColumn[]
  /** Rows that are known to exist. */
  rows: PlainObject[]
}

export interface SqlColumn {
  name: string
  kind: 'text' | 'number' | 'integer' | 'date' | 'boolean'
  /** The database gives the value itself: a primary key or a default. */
  generated: boolean
}

/** A record of a described table: its name and the declarations of its columns. */
export interface TableRecord extends PlainObject {
  table: string
  columns: string[]
  /** The database itself says so. Else a key without a default may have to be given or not, and counts as generated. */
  exact?: true
}

const tableKeys = /^(?:table|tables|table_?name|relation|name|sheet)$/i
const columnKeys = ['name', 'column_name', 'column', 'field', 'Field', 'COLUMN_NAME']
const typeKeys = ['type', 'data_type', 'Type', 'udt_name', 'DATA_TYPE']

/**
 * Returns the table that a result describes, if each of its items has the name and the type of a column and the call
 * named a table; else undefined.
 */
export function readTable(json: unknown, call: Readonly<PlainObject>): TableRecord | undefined {
  const table = Object.entries(call).find(([key]) => tableKeys.test(key))?.[1]
  if (typeof table !== 'string') return undefined
  const list = Array.isArray(json)
    ? json
    : isPlainObject(json)
      ? Object.values(json).find((value) => Array.isArray(value) && value.length > 0)
      : undefined
  if (!Array.isArray(list) || list.length === 0) return undefined
  // A key of several columns is not filled in by the database.
  const keys = list.filter((item) => isPlainObject(item) && isKey(item)).length
  const columns = list.map((item) => (isPlainObject(item) ? declaration(item, keys === 1) : undefined))
  return columns.every((column) => column !== undefined) ? { table, columns } : undefined
}

/**
 * Returns the table whose rows a result lists, if the call named one. The types of its columns are those of the values; a first
 * column `id` of whole numbers counts as its key.
 */
export function readRows(json: unknown, call: Readonly<PlainObject>): TableRecord | undefined {
  const table = Object.entries(call).find(([key]) => /^(?:table|table_?name)$/i.test(key))?.[1]
  if (typeof table !== 'string' || !Array.isArray(json) || json.length === 0) return undefined
  if (!json.every(isPlainObject)) return undefined
  const names = Object.keys(json[0])
  if (names.length < 2 || !json.every((row) => Object.keys(row).join() === names.join())) return undefined
  const columns = names.map((name) => {
    const type = columnType(json, name)
    return `${name} ${type}${type === 'INTEGER' && name === 'id' ? ' PRIMARY KEY' : ''}`
  })
  return { table, columns }
}

/** The type of a column of SQL that holds the values of a property. */
export function columnType(rows: readonly PlainObject[], name: string): string {
  const values = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined)
  if (values.length === 0) return 'TEXT'
  if (values.every(Number.isInteger)) return 'INTEGER'
  if (values.every((value) => typeof value === 'number')) return 'REAL'
  if (values.every((value) => typeof value === 'boolean')) return 'BOOLEAN'
  return values.every((value) => typeof value === 'string' && isDate.test(value)) ? 'DATE' : 'TEXT'
}

const isDate = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+Z?)?$/

function isKey(item: PlainObject): boolean {
  return Number(item['pk']) > 0 || item['primary_key'] === true || item['Key'] === 'PRI'
}

function declaration(item: PlainObject, onlyKey: boolean): string | undefined {
  const name = columnKeys.map((key) => item[key]).find((value) => typeof value === 'string')
  const type = typeKeys.map((key) => item[key]).find((value) => typeof value === 'string')
  if (name === undefined || type === undefined) return undefined
  const given =
    (onlyKey && isKey(item)) ||
    typeof item['column_default'] === 'string' ||
    typeof item['dflt_value'] === 'string'
  return `${name} ${type}${given ? ' PRIMARY KEY' : ''}`
}

const word = '["`\\[]?([A-Za-z_][\\w.]*)["`\\]]?'
const create = new RegExp(
  `CREATE\\s+(?:TEMP(?:ORARY)?\\s+)?TABLE\\s+(?:IF\\s+NOT\\s+EXISTS\\s+)?${word}\\s*\\(([\\s\\S]*)\\)`,
  'i',
)
const insert = new RegExp(`INSERT\\s+INTO\\s+${word}\\s*\\(([^)]*)\\)\\s*VALUES\\s*\\(([^)]*)\\)`, 'i')

/** The tables that these records show: described ones, statements that create or fill one, and names from lists. */
export function tablesIn(records: readonly PlainObject[]): SqlTable[] {
  const tables = new Map<string, SqlTable>()
  const table = (name: string): SqlTable => {
    const known = tables.get(name) ?? { name, columns: [], rows: [] }
    tables.set(name, known)
    return known
  }
  const exact = new Set<string>()
  const declare = (name: string, columns: readonly string[], isExact = false): void => {
    if (exact.has(name) && !isExact) return
    if (isExact) exact.add(name)
    const found = columns.map(readColumn).filter((column) => column !== undefined)
    if (found.length > 0) table(name).columns = found
  }
  for (const record of records.flatMap(objectsIn)) {
    const { table: name, columns } = record
    if (
      typeof name === 'string' &&
      Array.isArray(columns) &&
      columns.every((item) => typeof item === 'string')
    )
      declare(name, columns, record['exact'] === true)
    for (const value of Object.values(record)) {
      if (typeof value !== 'string' || value.length > 4000) continue
      const created = create.exec(value)
      if (created !== null) declare(created[1], splitList(created[2]))
      const inserted = insert.exec(value)
      if (inserted !== null) {
        const names = splitList(inserted[2]).map((item) => item.replaceAll(/["`[\]]/g, ''))
        const values = splitList(inserted[3]).map(readLiteral)
        if (names.length === values.length)
          table(inserted[1]).rows.push(Object.fromEntries(names.map((key, index) => [key, values[index]])))
      }
    }
    // { table: 'users', data: { name: 'Ada' } } is a row of that table.
    const row = Object.values(record).find(isPlainObject)
    if (typeof name === 'string' && row !== undefined && tables.has(name)) table(name).rows.push(row)
  }
  for (const known of tables.values())
    for (const record of records)
      if (known.columns.length > 1 && known.columns.every(({ name }) => name in record))
        known.rows.push(record)
  return [...tables.values()].filter(({ columns }) => columns.length > 0)
}

/** The known table that a value of the same object names. */
export function tableBeside(
  records: readonly PlainObject[],
  beside: Readonly<PlainObject>,
): SqlTable | undefined {
  const values = Object.values(beside)
  return tablesIn(records).find(({ name }) => values.includes(name))
}

/** Splits at commas outside of brackets and quotes. */
function splitList(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let quote = ''
  let current = ''
  for (const symbol of text) {
    if (quote !== '') quote = symbol === quote ? '' : quote
    else if (symbol === "'" || symbol === '"') quote = symbol
    else if (symbol === '(') depth++
    else if (symbol === ')') depth--
    if (symbol === ',' && depth === 0 && quote === '') {
      parts.push(current.trim())
      current = ''
    } else current += symbol
  }
  if (current.trim() !== '') parts.push(current.trim())
  return parts
}

function readColumn(text: string): SqlColumn | undefined {
  const [, name, type = ''] = /^["`[]?([A-Za-z_]\w*)["`\]]?\s*([A-Za-z]*)/.exec(text) ?? []
  if (name === undefined || /^(?:PRIMARY|FOREIGN|UNIQUE|CONSTRAINT|CHECK|KEY|INDEX)$/i.test(name))
    return undefined
  const kind = /^(?:int|bigint|smallint|tinyint|serial|bigserial)/i.test(type)
    ? 'integer'
    : /^(?:real|float|double|numeric|decimal|number|money)/i.test(type)
      ? 'number'
      : /^(?:date|timestamp|datetime|time)/i.test(type)
        ? 'date'
        : /^bool/i.test(type)
          ? 'boolean'
          : 'text'
  return { name, kind, generated: /PRIMARY\s+KEY|AUTO_?INCREMENT|SERIAL|DEFAULT|IDENTITY/i.test(text) }
}

function readLiteral(text: string): string | number {
  const quoted = /^'((?:[^']|'')*)'$/.exec(text)
  if (quoted !== null) return quoted[1].replaceAll("''", "'")
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
}
