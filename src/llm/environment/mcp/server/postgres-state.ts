import type { PlainObject } from '../salient.ts'
import { type DatabaseState, tableRecords } from './database-state.ts'
import type { PsqlSession } from './psql-session.ts'

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

/** Sessions in which the definitions are prepared: planning their statement takes as long as running it. */
const prepared = new WeakSet<PsqlSession>()

/** The state of a database by what it is of: `rows of orders`, `indexes`. */
export async function describePostgres(session: PsqlSession): Promise<DatabaseState> {
  if (!prepared.has(session)) await session.run(`PREPARE agoge_definitions AS ${definitions};`)
  prepared.add(session)
  const text = await session.run(`${rows}\nEXECUTE agoge_definitions;`)
  const parts = text.trim().split('\n')
  return Object.assign({}, ...parts.map((part) => JSON.parse(part) as DatabaseState)) as DatabaseState
}

/** The tables with their columns as in `CREATE TABLE`, and up to 20 rows of each. */
export async function recordsOfPostgres(session: PsqlSession): Promise<PlainObject[]> {
  const state = await describePostgres(session)
  const columns = state['columns'] as [
    table: string,
    name: string,
    type: string,
    needed: boolean,
    given: unknown,
  ][]
  const tables: Record<string, string[]> = {}
  for (const [table, name, type, , given] of columns)
    (tables[table] ??= []).push(`${name} ${type}${given === null ? '' : ' DEFAULT'}`)
  return tableRecords(tables, state)
}

/** Statements that empty the database and make what a dump of it has. Connections of others stay open. */
export function restoreStatements(dump: string): string {
  const drop = `DO $agoge$ DECLARE one text; BEGIN FOR one IN SELECT quote_ident(nspname) FROM pg_namespace WHERE ${own} LOOP EXECUTE 'DROP SCHEMA ' || one || ' CASCADE'; END LOOP; END $agoge$;`
  return [
    'BEGIN;',
    "SET lock_timeout = '2s';",
    drop,
    ...(/^CREATE SCHEMA public;/m.test(dump) ? [] : ['CREATE SCHEMA public;']),
    // Programs ask the roles of a usual database for this.
    'GRANT ALL ON SCHEMA public TO PUBLIC;',
    dump,
    'COMMIT;',
    'RESET ALL;',
  ].join('\n')
}
