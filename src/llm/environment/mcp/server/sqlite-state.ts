import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastTemporaryFolder } from '../../../../runs/temporary-folder.ts'
import type { PlainObject } from '../salient.ts'
import { type DatabaseState, tableRecords } from './database-state.ts'

/** Tells what a database of SQLite keeps, by its file. */
export interface SqliteReader {
  /** The state by what it is of: `rows of orders`, `schema`. Undefined if the contents cannot be read. */
  describe(contents: Buffer): DatabaseState | undefined
  /** The tables with their columns as in `CREATE TABLE`, and up to 20 rows of each. */
  records(contents: Buffer): PlainObject[]
}

interface Tables {
  state: DatabaseState
  columns: Record<string, string[]>
}

/**
 * Returns a reader of SQLite files without a write-ahead log. It opens a copy, so the file of a server is neither locked nor
 * changed, and remembers what it read.
 *
 * @example
 * const reader = await createSqliteReader()
 * reader.describe(readFileSync('shop.db')) // { schema: ['CREATE TABLE pets (id integer)'], 'rows of pets': [{ id: 1 }] }
 */
export async function createSqliteReader(): Promise<SqliteReader> {
  const { default: sqlite } = await import('node-sqlite3-wasm')
  const known = new WeakMap<Buffer, Tables | null>()

  function open(contents: Buffer): Tables {
    const folder = mkdtempSync(join(fastTemporaryFolder(), 'agoge-sqlite-'))
    try {
      const path = join(folder, 'copy.db')
      writeFileSync(path, contents)
      const database = new sqlite.Database(path, { fileMustExist: true, readOnly: true })
      try {
        return readTables((statement) => database.all(statement))
      } finally {
        database.close()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  function read(contents: Buffer): Tables | undefined {
    let tables = known.get(contents)
    if (tables === undefined) {
      try {
        tables = open(contents)
      } catch (error) {
        if (!(error instanceof sqlite.SQLite3Error)) throw error
        tables = null
      }
      known.set(contents, tables)
    }
    return tables ?? undefined
  }

  return {
    describe: (contents) => read(contents)?.state,
    records(contents) {
      const tables = read(contents)
      return tables === undefined ? [] : tableRecords(tables.columns, tables.state)
    },
  }
}

function readTables(all: (statement: string) => PlainObject[]): Tables {
  const made = all(
    "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
  )
  const tables = made.filter(({ type }) => type === 'table').map(({ name }) => String(name))
  const state: DatabaseState = { schema: made.map(({ sql }) => sql) }
  const columns: Tables['columns'] = {}
  for (const table of tables) {
    const quoted = `"${table.replaceAll('"', '""')}"`
    // Without generated columns: they say nothing new, and may be of any size.
    const declared = all(`PRAGMA table_info(${quoted})`)
    const stored = declared.map(({ name }) => `"${String(name).replaceAll('"', '""')}"`)
    state[`rows of ${table}`] = all(`SELECT ${stored.join(', ')} FROM ${quoted}`)
      .map(plainRow)
      .toSorted(byText)
    const keys = declared.filter(({ pk }) => Number(pk) > 0).length
    columns[table] = declared.map(({ name, type, pk, dflt_value: given }) => {
      // SQLite numbers the rows by such a key alone.
      const numbered = keys === 1 && Number(pk) > 0 && /^integer$/i.test(String(type))
      return `${String(name)} ${String(type) || 'TEXT'}${numbered ? ' PRIMARY KEY' : ''}${given === null ? '' : ' DEFAULT'}`
    })
  }
  return { state, columns }
}

/** A row in values of JSON. */
function plainRow(row: PlainObject): PlainObject {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      if (value instanceof Uint8Array) return [name, { base64: Buffer.from(value).toString('base64') }]
      return [name, typeof value === 'bigint' ? String(value) : value]
    }),
  )
}

/** Tables have no order. */
function byText(left: PlainObject, right: PlainObject): number {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)]
  if (a === b) return 0
  return a < b ? -1 : 1
}
