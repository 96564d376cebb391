import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fastTemporaryFolder } from '../../../../runs/temporary-folder.ts'
import type { PlainObject } from '../salient.ts'
import type { DatabaseState } from './database-state.ts'

/** The tables of a database with what they keep. */
export interface Tables {
  state: DatabaseState
  /** By table, the columns as in `CREATE TABLE`. */
  columns: Record<string, string[]>
}

/** How many databases are remembered: the first state of a few servers, and what they were last. */
const mostKnown = 8

/**
 * Returns a function that tells the tables of a SQLite file without a write-ahead log, or null if it cannot be read. It opens a
 * copy, so the file of a server is neither locked nor changed, and remembers what it read last.
 *
 * @example
 * const read = await createTableReader()
 * read(readFileSync('shop.db'))?.state // { schema: ['CREATE TABLE pets (id integer)'], 'rows of pets': [{ id: 1 }] }
 */
export async function createTableReader(): Promise<(contents: Uint8Array) => Tables | null> {
  const { default: sqlite } = await import('node-sqlite3-wasm')
  const known = new Map<string, Tables | null>()

  function open(contents: Uint8Array): Tables {
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

  function tryOpen(contents: Uint8Array): Tables | null {
    try {
      return open(contents)
    } catch (error) {
      if (!(error instanceof sqlite.SQLite3Error)) throw error
      return null
    }
  }

  return (contents) => {
    const key = createHash('sha256').update(contents).digest('base64')
    const tables = known.get(key) ?? tryOpen(contents)
    // The one that was asked for last is forgotten last.
    known.delete(key)
    known.set(key, tables)
    for (const oldest of known.keys()) if (known.size > mostKnown) known.delete(oldest)
    return tables
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
    state[`rows of ${table}`] = inOneOrder(all(`SELECT ${stored.join(', ')} FROM ${quoted}`).map(plainRow))
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
function inOneOrder(rows: PlainObject[]): PlainObject[] {
  const texts = new Map(rows.map((row) => [row, JSON.stringify(row)]))
  return rows.toSorted((left, right) => {
    const [a, b] = [texts.get(left)!, texts.get(right)!]
    if (a === b) return 0
    return a < b ? -1 : 1
  })
}
