import { parseForeignJson } from '../../../../untrusted/foreign-json.ts'
import type { PlainObject } from '../salient.ts'
import { type DatabaseState, tableRecords } from './database-state.ts'
import type { SqlSession } from './sql-session.ts'

/** The schemas that users make. */
const own = `nspname !~ '^pg_' AND nspname <> 'information_schema'`

/** The rows of each table, as one JSON object. The outer statement writes one statement, which `\gexec` runs. */
const rows = `SELECT 'SELECT ' || coalesce(string_agg(format('jsonb_build_object(%L, (SELECT coalesce(jsonb_agg(t ORDER BY t::text), ''[]'') FROM %I.%I t))', 'rows of ' || CASE nspname WHEN 'public' THEN '' ELSE nspname || '.' END || relname, nspname, relname), ' || '), $$'{}'$$)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE ${own} AND relkind IN ('r', 'p') \\gexec`

/** What else a user of the database can change: definitions by kind and name, as one JSON object. */
const definitions = `SELECT jsonb_build_object(
'columns', (SELECT coalesce(jsonb_agg(jsonb_build_array(c.oid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)) ORDER BY c.oid::regclass::text, attname), '[]')
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_namespace n ON n.oid = relnamespace LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE ${own} AND relkind IN ('r', 'p', 'v', 'm') AND attnum > 0 AND NOT attisdropped),
'indexes', (SELECT coalesce(jsonb_agg(pg_get_indexdef(c.oid) ORDER BY pg_get_indexdef(c.oid)), '[]') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE ${own} AND relkind = 'i'),
'constraints', (SELECT coalesce(jsonb_agg(jsonb_build_array(conrelid::regclass::text, conname, pg_get_constraintdef(k.oid)) ORDER BY conrelid::regclass::text, conname), '[]') FROM pg_constraint k JOIN pg_namespace n ON n.oid = connamespace WHERE ${own}),
'triggers', (SELECT coalesce(jsonb_agg(pg_get_triggerdef(g.oid) ORDER BY pg_get_triggerdef(g.oid)), '[]') FROM pg_trigger g WHERE NOT tgisinternal),
'functions', (SELECT coalesce(jsonb_agg(pg_get_functiondef(p.oid) ORDER BY pg_get_functiondef(p.oid)), '[]') FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE ${own} AND prokind IN ('f', 'p') AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND deptype = 'e')),
'enums', (SELECT coalesce(jsonb_agg(jsonb_build_array(typname, enumlabel) ORDER BY typname, enumsortorder), '[]') FROM pg_enum JOIN pg_type y ON y.oid = enumtypid),
'policies', (SELECT coalesce(jsonb_agg(to_jsonb(p) ORDER BY p::text), '[]') FROM pg_policies p),
'row security', (SELECT coalesce(jsonb_agg(c.oid::regclass::text ORDER BY c.oid::regclass::text), '[]') FROM pg_class c WHERE relrowsecurity),
'comments', (SELECT coalesce(jsonb_agg(jsonb_build_array(objoid::regclass::text, objsubid, description) ORDER BY objoid::regclass::text, objsubid), '[]') FROM pg_description JOIN pg_class c ON c.oid = objoid JOIN pg_namespace n ON n.oid = relnamespace WHERE classoid = 'pg_class'::regclass AND ${own}))`

/** Object ids below this belong to PostgreSQL itself. */
const firstOwn = 16384

/** The catalogs in which a user of the database changes something, with the column that says whose object it is. */
const catalogs: Readonly<Record<string, string>> = {
  pg_attribute: 'attrelid',
  pg_attrdef: 'oid',
  pg_collation: 'oid',
  pg_constraint: 'oid',
  pg_description: 'objoid',
  pg_enum: 'oid',
  pg_index: 'indexrelid',
  pg_inherits: 'inhrelid',
  pg_operator: 'oid',
  pg_policy: 'oid',
  pg_proc: 'oid',
  pg_rewrite: 'oid',
  pg_sequence: 'seqrelid',
  pg_statistic_ext: 'oid',
  pg_trigger: 'oid',
  pg_type: 'oid',
}

/**
 * Another text whenever a definition was changed, 4 times as fast as reading the definitions. Emptying a table changes its row of
 * `pg_class`, so of that only what a user defines counts.
 */
const fingerprint = [
  ...Object.entries(catalogs).map(([catalog, id]) => [catalog, `${id} >= ${firstOwn}`]),
  ...['pg_namespace', 'pg_extension', 'pg_default_acl', 'pg_event_trigger'].map((one) => [one, 'true']),
]
  .map(
    ([catalog, where]) =>
      `SELECT '${catalog}', count(*), sum(xmin::text::bigint) FROM ${catalog} WHERE ${where}`,
  )
  .concat(
    `SELECT 'pg_class', count(*), sum(hashtext((oid, relname, relnamespace, relowner, relkind, relpersistence, relrowsecurity, relforcerowsecurity, relreplident, relacl, reloptions)::text)) FROM pg_class WHERE oid >= ${firstOwn}`,
  )
  .join(' UNION ALL ')

/**
 * Writes the statement whose rows are others whenever a row was inserted, changed or deleted, or a sequence went on. Each row knows
 * the transaction that wrote it.
 */
const rowMarks = `SELECT concat_ws(' UNION ALL ', string_agg(format('SELECT %L, count(*), sum(xmin::text::bigint) FROM %I.%I', c.oid, nspname, relname), ' UNION ALL ' ORDER BY c.oid), 'SELECT schemaname || sequencename, last_value, NULL FROM pg_sequences')
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE ${own} AND relkind IN ('r', 'm')`

/** What a dump of a database has: everything, and the rows with the state of the sequences alone. */
export interface PostgresDump {
  whole: string
  rows: string
}

/** A database that can be described and brought back to its dump. */
export interface PostgresDatabase {
  /** The state by what it is of: `rows of orders`, `indexes`. */
  describe(): Promise<DatabaseState>
  /** The tables with their columns as in `CREATE TABLE`, and up to 20 rows of each. */
  records(): Promise<PlainObject[]>
  /**
   * Makes what the dump has, in the same order. Where only rows differ, the definitions stay, which is faster, and where nothing was
   * written there is nothing to do. Connections of others stay open.
   */
  restore(): Promise<void>
}

/** The fingerprint of the definitions of the dump, and the mark of the rows as the last restore left them. */
interface Marks {
  definitions: string
  rows: string
}

/** Describes and restores a database through a session that stays open. */
export function createPostgresDatabase(session: SqlSession, dump: PostgresDump): PostgresDatabase {
  let isPrepared = false
  let known: { mark: string; definitions: DatabaseState } | undefined
  /** Rows are shown by the names of their columns, so they are read again after these have changed. */
  let knownRows: { mark: string; of: object; rows: DatabaseState } | undefined
  let first: Marks | undefined
  let tables = ''
  // Rows of a materialized view are not among those that a dump has.
  const hasCopies = /^CREATE MATERIALIZED VIEW/m.test(dump.whole)

  async function run(statements: string): Promise<string> {
    // Planning these statements takes as long as running them.
    if (!isPrepared)
      await session.run(
        `PREPARE agoge_definitions AS ${definitions}; PREPARE agoge_fingerprint AS ${fingerprint};`,
      )
    isPrepared = true
    return session.run(statements)
  }

  /** The mark of the rows. Where the definitions are those of the dump, its statement is planned already. */
  function markRows(mark: string): Promise<string> {
    return run(mark === first?.definitions ? 'EXECUTE agoge_rows;' : `${rowMarks} \\gexec`)
  }

  async function describe(): Promise<DatabaseState> {
    const mark = await run('EXECUTE agoge_fingerprint;')
    if (known?.mark !== mark)
      known = {
        mark,
        definitions: parseForeignJson(await run('EXECUTE agoge_definitions;')) as DatabaseState,
      }
    const written = await markRows(mark)
    if (knownRows?.mark !== written || knownRows.of !== known)
      knownRows = { mark: written, of: known, rows: parseForeignJson(await run(rows)) as DatabaseState }
    return { ...knownRows.rows, ...known.definitions }
  }

  /** Makes the rows of the dump anew, unless nothing was written. */
  async function restoreRows(marks: Marks): Promise<void> {
    if ((await markRows(marks.definitions)) === marks.rows) return
    const text = await run(`${rowStatements(dump.rows, tables)}\n\\echo --\nEXECUTE agoge_rows;`)
    marks.rows = text.slice(text.lastIndexOf('--\n') + 3)
  }

  return {
    describe,
    async records() {
      const state = await describe()
      const declared: Record<string, string[]> = {}
      for (const [table, name, type, , given] of state['columns'] as ColumnDefinition[])
        (declared[table] ??= []).push(`${name} ${type}${given === null ? '' : ' DEFAULT'}`)
      return tableRecords(declared, state)
    },
    async restore() {
      if (
        first !== undefined &&
        !hasCopies &&
        (await run('EXECUTE agoge_fingerprint;')) === first.definitions
      )
        return restoreRows(first)
      await run(wholeStatements(dump.whole))
      const definitions = await run('EXECUTE agoge_fingerprint;')
      const statement = await run(`${rowMarks};`)
      const replaced = first === undefined ? '' : 'DEALLOCATE agoge_rows; '
      first = {
        definitions,
        rows: await run(`${replaced}PREPARE agoge_rows AS ${statement.trim()}; EXECUTE agoge_rows;`),
      }
      tables = (await run(tableNames)).trim()
    },
  }
}

type ColumnDefinition = [table: string, name: string, type: string, needed: boolean, given: unknown]

const tableNames = `SELECT string_agg(format('%I.%I', nspname, relname), ', ') FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE ${own} AND relkind IN ('r', 'p');`

/** Statements that make the rows anew, in the order of the dump. Triggers and foreign keys are not asked. */
function rowStatements(rowsOfDump: string, tables: string): string {
  return transaction([
    'SET LOCAL session_replication_role = replica;',
    ...(tables === '' ? [] : [`TRUNCATE ${tables};`]),
    rowsOfDump,
  ])
}

/** Statements that empty the database and make what a dump of it has. */
function wholeStatements(dump: string): string {
  const drop = `DO $agoge$ DECLARE one text; BEGIN FOR one IN SELECT quote_ident(nspname) FROM pg_namespace WHERE ${own} LOOP EXECUTE 'DROP SCHEMA ' || one || ' CASCADE'; END LOOP; END $agoge$;`
  return transaction([
    drop,
    ...(/^CREATE SCHEMA public;/m.test(dump) ? [] : ['CREATE SCHEMA public;']),
    // Programs ask the roles of a usual database for this.
    'GRANT ALL ON SCHEMA public TO PUBLIC;',
    dump,
  ])
}

function transaction(statements: readonly string[]): string {
  return ['BEGIN;', "SET lock_timeout = '2s';", ...statements, 'COMMIT;', 'RESET ALL;'].join('\n')
}
