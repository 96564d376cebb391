import type { Random } from '../../../../engine/random/index.ts'
import { plural } from '../request/inflect.ts'
import { UnusableSchema } from './schema-parts.ts'
import type { SqlColumn, SqlTable } from './sql-tables.ts'
import type { SplitWords } from './words.ts'

/** Statements that change something, as kinds of task. */
export const changingStatements = ['INSERT', 'UPDATE', 'DELETE', 'CREATE'] as const
export type ChangingStatement = (typeof changingStatements)[number]

/** Statements that only read, as kinds of task: rows, or a number, sum, average or extreme of them. */
export const readingStatements = ['ROWS', 'AGGREGATE'] as const
export type ReadingStatement = (typeof readingStatements)[number]

type Verb = 'SELECT' | ReadingStatement | ChangingStatement | 'DROP'

/** What a statement should do. */
export type WantedStatement = 'reads' | 'changes' | ReadingStatement | ChangingStatement

const isReading = (wants: WantedStatement): wants is ReadingStatement =>
  (readingStatements as readonly string[]).includes(wants)

/** Whether what is wanted only reads. */
export const wantsReading = (wants: WantedStatement): boolean => wants === 'reads' || isReading(wants)

/** How an SQL statement begins. */
export const statementStart = /^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP)\s/i

/** How texts name statements, where it is not by their verb alone. */
const names: Partial<Record<Verb, RegExp>> = {
  SELECT: /\bSELECT\b|\b(?:READ|read) (?:operations|statements|queries)\b/,
  CREATE: /\bCREATE\b|create[_ ]table/,
}

/**
 * The statements that a tool takes, from its name and descriptions. `execute a SELECT query` takes that one alone; a
 * tool that names none takes any but DROP.
 */
export function verbsOf(text: string): readonly Verb[] {
  const named = (['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE'] as const).filter((verb) =>
    (names[verb] ?? new RegExp(`\\b${verb}\\b`)).test(text),
  )
  const only = /\b(?:only|read-only|read)\b[^.]{0,20}\bSELECT\b|\bSELECT\b[^.]{0,20}\bonly\b/i.test(text)
  if (only) return ['SELECT']
  // Examples of statements do not narrow down "any SQL".
  if (/\b(?:any|arbitrary)\b[^.]{0,30}\b(?:SQL|statements?)\b/i.test(text))
    return ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE']
  if (named.length > 0) return named
  if (/\bread(?:-only)?\b|\bread_?query\b|\bselect\b/i.test(text)) return ['SELECT']
  return /\bwrite|\bmodif/i.test(text)
    ? ['INSERT', 'UPDATE', 'DELETE']
    : ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE']
}

/**
 * Those of the statements that only read, or only change something. All of them if that leaves none.
 *
 * @throws UnusableSchema if one statement is wanted and the tool does not take it.
 */
export function wantedOf(verbs: readonly Verb[], wants: WantedStatement | undefined): readonly Verb[] {
  if (wants === undefined) return verbs
  if (wants !== 'reads' && wants !== 'changes') {
    if (!verbs.includes(isReading(wants) ? 'SELECT' : wants))
      throw new UnusableSchema('a statement', `the tool takes no ${wants}`)
    return [wants]
  }
  const wanted = verbs.filter((verb) => (verb === 'SELECT') === (wants === 'reads'))
  return wanted.length > 0 ? wanted : verbs
}

const topics: readonly (readonly [string, readonly string[]])[] = [
  ['name', ['TEXT']],
  ['city', ['TEXT']],
  ['colour', ['TEXT']],
  ['count', ['INTEGER']],
  ['price', ['INTEGER']],
  ['year', ['INTEGER']],
]

function createTable(words: SplitWords, random: Random): string {
  const name = plural(random.pick(words.nouns))
  const columns = random
    .shuffle([...topics])
    .slice(0, 2)
    .map(([column, [type]]) => `${column} ${type}`)
  return `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, ${columns.join(', ')})`
}

function literal(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : `'${String(value).replaceAll("'", "''")}'`
}

/** A value for a column, by its kind and by its name. */
export function columnValue(
  { name, kind }: SqlColumn,
  words: SplitWords,
  random: Random,
): string | number | boolean {
  if (kind === 'integer') return /year/i.test(name) ? 1980 + random.int(45) : 1 + random.int(99)
  if (kind === 'number') return 1 + random.int(99)
  if (kind === 'boolean') return random.next() < 0.5
  if (kind === 'date') return `20${20 + random.int(10)}-0${1 + random.int(9)}-${10 + random.int(18)}`
  if (/city|town|place/i.test(name)) return random.pick(words.cities)
  if (/email/i.test(name)) return `${random.pick(words.people).toLowerCase()}@example.com`
  if (/person|author|owner|customer|user/i.test(name)) return random.pick(words.people)
  return random.pick(words.nouns)
}

/** A condition on a column that some known row meets. Without rows it compares with a made-up value. */
export function condition(table: SqlTable, words: SplitWords, random: Random): string {
  const row = table.rows.length > 0 ? random.pick(table.rows) : undefined
  const usable = row === undefined ? table.columns : table.columns.filter(({ name }) => row[name] != null)
  const column = random.pick(usable.length > 0 ? usable : table.columns)
  const value = row?.[column.name] ?? columnValue(column, words, random)
  const numeric = typeof value === 'number'
  const sign = numeric ? random.pick(['=', '>=', '<=', '>']) : '='
  return `${column.name} ${sign} ${literal(value)}`
}

function select(table: SqlTable, words: SplitWords, random: Random, wants?: ReadingStatement): string {
  const column = random.pick(table.columns).name
  const numbers = table.columns.filter(
    ({ kind, generated }) => kind !== 'text' && kind !== 'date' && !generated,
  )
  const where = random.next() < 0.5 ? ` WHERE ${condition(table, words, random)}` : ''
  const count = (): string => `SELECT COUNT(*) AS total FROM ${table.name}${where}`
  const total = (): string =>
    `SELECT ${random.pick(['SUM', 'MIN', 'MAX', 'AVG'])}(${random.pick(numbers).name}) AS result FROM ${table.name}${where}`
  const ordered = (): string =>
    `SELECT ${column} FROM ${table.name}${where} ORDER BY ${random.pick(table.columns).name}${random.next() < 0.5 ? ' DESC' : ''}`
  const rows = [
    () => `SELECT ${column} FROM ${table.name}${where}`,
    () => `SELECT * FROM ${table.name}${where}`,
    ordered,
  ]
  // There are four totals.
  const totals = (times: number): (() => string)[] =>
    numbers.length === 0 ? [] : Array.from({ length: times }, () => total)
  if (wants === 'ROWS') return random.pick(rows)()
  if (wants === 'AGGREGATE') return random.pick([count, ...totals(4)])()
  const [one, all] = rows
  return random.pick([one, all, count, ordered, ...totals(2)])()
}

/** The columns that a statement gives values for: those that the database does not fill itself. */
export function givenColumns(table: SqlTable): readonly SqlColumn[] {
  const given = table.columns.filter(({ generated }) => !generated)
  return given.length > 0 ? given : table.columns
}

/**
 * Makes a statement over the known tables, in the SQL that all dialects share. Without a known table it creates one,
 * or selects a constant.
 */
export function sampleSql(
  verbs: readonly Verb[],
  tables: readonly SqlTable[],
  words: SplitWords,
  random: Random,
): string {
  if (tables.length === 0)
    return verbs.includes('CREATE') ? createTable(words, random) : `SELECT ${1 + random.int(99)} AS result`
  const table = random.pick(tables)
  const filled = table.rows.length > 0
  // A row comes before what reads or changes rows; a table seldom follows a table.
  const useful = verbs.filter((verb) => filled || !['UPDATE', 'DELETE'].includes(verb) || verbs.length === 1)
  const some = useful.length > 0 ? useful : verbs
  const verb = some[random.weighted(some.map((one) => (one === 'CREATE' ? 0.2 : 1)))]
  const given = givenColumns(table)
  switch (verb) {
    case 'CREATE':
      return createTable(words, random)
    case 'INSERT': {
      const values = given.map((column) => literal(columnValue(column, words, random)))
      return `INSERT INTO ${table.name} (${given.map(({ name }) => name).join(', ')}) VALUES (${values.join(', ')})`
    }
    case 'UPDATE': {
      const column = random.pick(given)
      return `UPDATE ${table.name} SET ${column.name} = ${literal(columnValue(column, words, random))} WHERE ${condition(table, words, random)}`
    }
    case 'DELETE':
      return `DELETE FROM ${table.name} WHERE ${condition(table, words, random)}`
    case 'DROP':
      return `DROP TABLE ${table.name}`
    case 'SELECT':
      return select(table, words, random)
    case 'ROWS':
    case 'AGGREGATE':
      return select(table, words, random, verb)
  }
}
