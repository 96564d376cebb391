import { parseForeignJson } from '../../../../untrusted/foreign-json.ts'
import type { PlainObject } from '../salient.ts'
import { type DatabaseState, tableRecords } from './database-state.ts'
import type { SqlSession } from './sql-session.ts'

const here = 'table_schema = DATABASE()'

interface Part {
  fields: string
  from: string
  where?: string
  by: string
}

/** What a user of the database can change besides rows: definitions by kind, each a list of lists. */
const parts: Readonly<Record<string, Part>> = {
  database: {
    fields: 'default_character_set_name, default_collation_name, schema_comment',
    from: 'schemata',
    where: 'schema_name = DATABASE()',
    by: 'schema_name',
  },
  tables: {
    fields: 'table_name, table_type, engine, table_collation, create_options, table_comment',
    from: 'tables',
    by: 'table_name',
  },
  columns: {
    fields:
      'table_name, column_name, column_type, is_nullable, column_default, extra, generation_expression, character_set_name, collation_name, column_comment',
    from: 'columns',
    by: 'table_name, ordinal_position',
  },
  indexes: {
    fields: 'table_name, index_name, non_unique, column_name, sub_part, index_type',
    from: 'statistics',
    by: 'table_name, index_name, seq_in_index',
  },
  constraints: {
    fields:
      'table_name, constraint_name, column_name, referenced_table_schema, referenced_table_name, referenced_column_name',
    from: 'key_column_usage',
    by: 'table_name, constraint_name, ordinal_position',
  },
  'foreign keys': {
    fields: 'table_name, constraint_name, update_rule, delete_rule',
    from: 'referential_constraints',
    where: 'constraint_schema = DATABASE()',
    by: 'table_name, constraint_name',
  },
  checks: {
    fields: 'table_name, constraint_name, check_clause',
    from: 'check_constraints',
    where: 'constraint_schema = DATABASE()',
    by: 'table_name, constraint_name',
  },
  views: {
    fields: 'table_name, view_definition, check_option, security_type',
    from: 'views',
    by: 'table_name',
  },
  triggers: {
    fields: 'trigger_name, event_manipulation, event_object_table, action_timing, action_statement',
    from: 'triggers',
    where: 'trigger_schema = DATABASE()',
    by: 'trigger_name',
  },
  routines: {
    fields: 'routine_type, routine_name, dtd_identifier, routine_definition, sql_data_access, security_type',
    from: 'routines',
    where: 'routine_schema = DATABASE()',
    by: 'routine_type, routine_name',
  },
  parameters: {
    fields: 'specific_name, parameter_mode, parameter_name, dtd_identifier',
    from: 'parameters',
    where: 'specific_schema = DATABASE()',
    by: 'specific_name, ordinal_position',
  },
  events: {
    fields: 'event_name, event_definition, interval_value, interval_field, status',
    from: 'events',
    where: 'event_schema = DATABASE()',
    by: 'event_name',
  },
}

/** One line of JSON for each part. */
const definitions = Object.values(parts)
  .map(
    ({ fields, from, where = here, by }) =>
      `SELECT COALESCE(JSON_ARRAYAGG(JSON_ARRAY(${fields}) ORDER BY ${by}), '[]') FROM information_schema.${from} WHERE ${where};`,
  )
  .join('\n')

/**
 * How many statements that change definitions this MariaDB has run, 10 times as fast as reading the definitions. Nothing but the
 * server and this module speaks to it.
 */
const definitionChanges = `SELECT SUM(variable_value) FROM information_schema.global_status WHERE ${[
  'create',
  'alter',
  'drop',
  'rename',
]
  .map((verb) => `variable_name LIKE 'COM\\_${verb}\\_%'`)
  .join(' OR ')};`

/** Lists of JSON are cut off at this many bytes. The default, one million, cuts off the rows of a table of some size. */
const settings =
  'SET SESSION group_concat_max_len = 1073741824, lock_wait_timeout = 2, innodb_lock_wait_timeout = 2;'

type Column = [table: string, name: string, type: string, nullable: string, given: unknown, extra: string]
type Table = [name: string, type: string]

/** A database that can be described and brought back to the first one. */
export interface MariadbDatabase {
  /** The state by what it is of: `rows of orders`, `indexes`. */
  describe(): Promise<DatabaseState>
  /** The tables with their columns as in `CREATE TABLE`, and up to 20 rows of each. */
  records(): Promise<PlainObject[]>
  /**
   * Makes what the dump has. Where only rows differ, the definitions stay, which is faster. Connections of others stay open.
   *
   * @throws InfrastructureError if another connection keeps a lock for two seconds, or the database was dropped.
   */
  restore(): Promise<void>
}

/** What a dump of a database has: everything, and the rows alone. */
export interface MariadbDump {
  whole: string
  rows: string
  /** What `databaseStatement` returned: a dump has no properties of the database itself. */
  database: string
}

/** Describes and restores a database through a session that stays open. */
export function createMariadbDatabase(session: SqlSession, dump: MariadbDump): MariadbDatabase {
  /** The definitions after the first restore, and the statements that bring back the rows; undefined if rows alone cannot be. */
  let first: { definitions: string; rows: string | undefined } | undefined
  /** The definitions when this number was counted. */
  let known: { changes: string; definitions: string } | undefined
  let isSet = false

  async function run(statements: string): Promise<string> {
    if (!isSet) await session.run(settings)
    isSet = true
    return session.run(statements)
  }

  async function definitionsNow(): Promise<string> {
    const changes = await run(definitionChanges)
    if (known?.changes !== changes) known = { changes, definitions: await run(definitions) }
    return known.definitions
  }

  async function describe(): Promise<DatabaseState> {
    const defined = parseDefinitions(await definitionsNow())
    const tables = baseTables(defined)
    if (tables.length === 0) return defined
    const columns = defined['columns'] as Column[]
    const lines = (await run(tables.map((table) => rowsOf(table, columns)).join('\n'))).split('\n')
    const rows = tables.map((table, index): [string, unknown] => [
      `rows of ${table}`,
      parseForeignJson(lines[index]),
    ])
    return { ...Object.fromEntries(rows), ...defined }
  }

  return {
    describe,
    async records() {
      const state = await describe()
      const declared: Record<string, string[]> = {}
      for (const [table, name, type, , given, extra] of state['columns'] as Column[])
        (declared[table] ??= []).push(`${name} ${type}${given === null && extra === '' ? '' : ' DEFAULT'}`)
      return tableRecords(declared, state)
    },
    async restore() {
      if (first?.rows !== undefined && (await definitionsNow()) === first.definitions) {
        const changes = await run(`${first.rows}\n${definitionChanges}`)
        known = { changes, definitions: first.definitions }
        return
      }
      await run(wholeStatements(dump))
      const text = await definitionsNow()
      const numbers = (await run(nextNumbers)).split('\n').filter((line) => line !== '')
      first = { definitions: text, rows: rowStatements(parseDefinitions(text), dump.rows, numbers) }
    },
  }
}

function parseDefinitions(text: string): DatabaseState {
  const lines = text.split('\n')
  return Object.fromEntries(Object.keys(parts).map((name, index) => [name, parseForeignJson(lines[index])]))
}

function baseTables(defined: DatabaseState): string[] {
  return (defined['tables'] as Table[]).flatMap(([name, type]) => (type === 'BASE TABLE' ? [name] : []))
}

function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/** A statement that returns the rows of a table as JSON. What is no text is written in hexadecimal digits. */
function rowsOf(table: string, columns: readonly Column[]): string {
  const own = columns.filter(([of]) => of === table)
  const pairs = own.map(([, name, type]) => {
    const isText = !/binary|blob|^bit|geometry|point|linestring|polygon/.test(type)
    return `${literal(name)}, ${isText ? quoted(name) : `HEX(${quoted(name)})`}`
  })
  const order = own.map(([, name]) => quoted(name)).join(', ')
  return `SELECT COALESCE(JSON_ARRAYAGG(JSON_OBJECT(${pairs.join(', ')}) ORDER BY ${order}), '[]') FROM ${quoted(table)};`
}

/** Returns a statement that gives the database its properties. */
export const databaseStatement =
  "SELECT CONCAT('ALTER DATABASE COLLATE ', default_collation_name, ' COMMENT ', QUOTE(schema_comment), ';') FROM information_schema.schemata WHERE schema_name = DATABASE();"

/** Statements that set the next number of each table that counts, one a line. */
const nextNumbers = `SELECT CONCAT('ALTER TABLE \`', REPLACE(table_name, '\`', '\`\`'), '\` AUTO_INCREMENT = ', auto_increment, ';') FROM information_schema.tables WHERE ${here} AND auto_increment IS NOT NULL;`

/**
 * Statements that put back the rows of a dump. Undefined where deleting and adding rows does more than that: triggers run, and
 * sequences and tables with a history keep what they counted.
 */
function rowStatements(defined: DatabaseState, rows: string, numbers: readonly string[]): string | undefined {
  const isPlain = (defined['tables'] as Table[]).every(([, type]) => type === 'BASE TABLE' || type === 'VIEW')
  if (!isPlain || (defined['triggers'] as unknown[]).length > 0) return undefined
  return [
    'SET foreign_key_checks = 0; START TRANSACTION;',
    ...baseTables(defined).map((table) => `DELETE FROM ${quoted(table)};`),
    rows,
    'COMMIT; SET foreign_key_checks = 1;',
    ...numbers,
  ].join('\n')
}

/** Statements that empty the database and make what a dump of the template has. */
function wholeStatements({ whole, database }: MariadbDump): string {
  const drop = (kind: string, name: string, from: string, where: string): string =>
    `FOR one IN (SELECT ${name} AS name FROM information_schema.${from} WHERE ${where}) DO EXECUTE IMMEDIATE CONCAT('DROP ${kind} \`', REPLACE(one.name, '\`', '\`\`'), '\`'); END FOR;`
  return [
    'SET foreign_key_checks = 0;',
    'DELIMITER //',
    'BEGIN NOT ATOMIC',
    drop('VIEW', 'table_name', 'tables', `${here} AND table_type = 'VIEW'`),
    drop('SEQUENCE', 'table_name', 'tables', `${here} AND table_type = 'SEQUENCE'`),
    drop('TABLE', 'table_name', 'tables', `${here} AND table_type NOT IN ('VIEW', 'SEQUENCE')`),
    drop(
      'PROCEDURE',
      'routine_name',
      'routines',
      "routine_schema = DATABASE() AND routine_type = 'PROCEDURE'",
    ),
    drop('FUNCTION', 'routine_name', 'routines', "routine_schema = DATABASE() AND routine_type = 'FUNCTION'"),
    drop('EVENT', 'event_name', 'events', 'event_schema = DATABASE()'),
    'END//',
    'DELIMITER ;',
    database,
    whole,
    'SET foreign_key_checks = 1;',
  ].join('\n')
}
