import type { Random } from '../../../../engine/random/index.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'
import type { Effect } from './argument-words.ts'
import type { Computation } from './computation.ts'
import { inNumber, listed, plural, withArticle } from './inflect.ts'
import { dated, nameWords } from './name-words.ts'

/** The rows that a statement is about. */
interface Rows {
  /** "order items" and "order item". */
  many: string
  one: string
  /** " whose status is open"; empty if it is about all rows. */
  where: string
}

const value = String.raw`('(?:[^']|'')*'|-?\d+(?:\.\d+)?|true|false)`
const name = String.raw`([A-Za-z_]\w*)`
const where = String.raw`(?: WHERE ${name} (=|>=|<=|>) ${value})?`
const forms = {
  create: new RegExp(`^CREATE TABLE ${name} \\(id INTEGER PRIMARY KEY, (.+)\\)$`),
  insert: new RegExp(`^INSERT INTO ${name} \\(([^)]*)\\) VALUES \\((.*)\\)$`),
  update: new RegExp(`^UPDATE ${name} SET ${name} = ${value}${where}$`),
  remove: new RegExp(`^DELETE FROM ${name}${where}$`),
  count: new RegExp(`^SELECT COUNT\\(\\*\\) AS total FROM ${name}${where}$`),
  total: new RegExp(`^SELECT (SUM|MIN|MAX|AVG)\\(${name}\\) AS result FROM ${name}${where}$`),
  select: new RegExp(`^SELECT (\\*|\\w+) FROM ${name}${where}(?: ORDER BY ${name}( DESC)?)?$`),
}

/**
 * Says a statement of SQL as people speak of data: "set the stock of the products whose name is Oak desk to 5", "the number
 * of orders whose status is open". It reads the statements that `sampleSql` makes.
 *
 * @returns undefined for any other statement.
 * @example
 * sqlWords('DELETE FROM orders WHERE id = 3', random)?.requests // ['delete the orders whose id is 3', ...]
 */
export function sqlWords(sql: string, random: Random): Computation | undefined {
  return changeWords(sql, random) ?? selectWords(sql, random)
}

/**
 * Says a call that names a table and gives values of its columns, as the tools of databases do: "add a product with the name
 * Oak desk", "delete the orders whose status is open".
 *
 * @param verb of the tool. What deletes rows needs no values, though a call may give some.
 * @returns undefined for calls of any other form.
 */
export function rowWords(
  args: Readonly<PlainObject>,
  effect: Effect,
  random: Random,
  verb = '',
): Computation | undefined {
  const { table, values: stated, conditions, limit, offset } = partsOf(args)
  const values = conditions !== undefined && /^(?:delete|remove)/.test(verb) ? undefined : stated
  if (table === undefined || (values ?? conditions ?? limit) === undefined) return undefined
  // Many databases skip no rows without a limit.
  if (offset !== undefined && limit === undefined) return undefined
  if (limit !== undefined && (effect !== 'reads' || (values !== undefined && conditions !== undefined)))
    return undefined
  const { one, many } = rowsOf(table)
  const some = conditions ?? (effect === 'adds' || values === undefined ? undefined : equalities(values))
  const pairs = (some ?? []).map((condition) => rowsOf(table, condition, random).where)
  const rows =
    limit !== undefined
      ? pageOf({ one, many }, pairs.join(' and'), limit, offset)
      : `${pairs.length === 0 ? 'all' : 'the'} ${many}${pairs.join(' and')}`
  if (values === undefined || (conditions === undefined && some !== undefined)) {
    if (effect === 'reads')
      return asked(
        [rows],
        [rows],
        [`list ${rows}`, `show me ${rows}`, `look up ${rows}`],
        [`pull up ${rows}`],
      )
    if (effect !== 'removes') return undefined
    return requests([`delete ${rows}`, `remove ${rows}`, `get rid of ${rows}`], [`erase ${rows}`])
  }
  const given = Object.entries(values)
  if (effect === 'adds' && conditions === undefined) {
    const row = `${withArticle(one)} with ${listed(given.map(([key, item]) => `the ${wordsOf(key)} ${String(item)}`))}`
    return requests([`add ${row}`, `insert ${row}`, `create ${row}`], [`note down ${row}`])
  }
  const changes = listed(given.map(([key, item]) => `the ${wordsOf(key)} to ${String(item)}`))
  return requests(
    [`set ${changes} for ${rows}`, `change ${changes} for ${rows}`, `update ${changes} for ${rows}`],
    [`turn ${changes} for ${rows}`],
  )
}

/** Some of the rows in their order: "the first 3 orders whose status is open after the first 2". */
function pageOf({ one, many }: Pick<Rows, 'one' | 'many'>, where: string, limit: number, offset = 0): string {
  const some = limit === 1 ? `the first ${one}` : `the first ${limit} ${many}`
  return `${some}${where}${offset === 0 ? '' : ` after the first ${offset === 1 ? 'one' : offset}`}`
}

const conditionNames = /^(?:where|conditions?|filters?|match|keys?|criteria)$/i
/** What the rows of a change are not about: the usual schema, and which columns are returned. */
const isBeside = (key: string, item: unknown): boolean =>
  typeof item === 'string' && (/^returning$/i.test(key) || (/^schema$/i.test(key) && item === 'public'))

/** A column, a sign and a literal. */
type Condition = readonly [string, string, string]

function equalities(values: PlainObject): Condition[] {
  return Object.entries(values).map(([column, wanted]) => [column, '=', String(wanted)])
}

const condition = new RegExp(`^${name} (=|>=|<=|>) ${value}$`)

/** The table, the values, the conditions and the page of a call. Nothing if it has anything else. */
function partsOf(args: Readonly<PlainObject>): {
  table?: string
  values?: PlainObject
  conditions?: Condition[]
  limit?: number
  offset?: number
} {
  const parts: ReturnType<typeof partsOf> = {}
  for (const [key, item] of Object.entries(args)) {
    if (/^table(?:_?name)?$/i.test(key) && typeof item === 'string') parts.table = item
    else if (/^limit$/i.test(key) && typeof item === 'number') parts.limit = item
    else if (/^(?:offset|skip)$/i.test(key) && typeof item === 'number') parts.offset = item
    else if (isBeside(key, item)) continue
    else if (conditionNames.test(key) && typeof item === 'string') {
      const found = condition.exec(item)
      if (found === null) return {}
      parts.conditions = [[found[1], found[2], found[3]]]
    } else if (!isPlainObject(item) || Object.values(item).some((inner) => typeof inner === 'object'))
      return {}
    else if (conditionNames.test(key)) parts.conditions = equalities(item)
    else parts.values = item
  }
  return parts
}

/** The literals of a statement, and its names in words. */
export function sqlValues(sql: string): string[] {
  const literals = [...sql.matchAll(new RegExp(value, 'g'))].map(([text]) => said(text))
  const names = [...sql.replaceAll(/'(?:[^']|'')*'/g, '').matchAll(/\b[a-z]\w+/g)].flatMap(([text]) => {
    const words = wordsOf(text)
    return [words, inNumber(words, false), inNumber(words, true), text]
  })
  return [...literals, ...names]
}

function changeWords(sql: string, random: Random): Computation | undefined {
  const created = forms.create.exec(sql)
  if (created !== null) {
    const columns = created[2].split(', ').map((column) => {
      const [key, type] = column.split(' ')
      return `${wordsOf(key)} (${type.toLowerCase()})`
    })
    const table = `table ${created[1]} with an id as its primary key and the columns ${listed(columns)}`
    return requests([`create a ${table}`, `make a ${table}`, `add a ${table}`], [`set up a ${table}`])
  }
  const inserted = forms.insert.exec(sql)
  if (inserted !== null) {
    const values = [...inserted[3].matchAll(new RegExp(value, 'g'))].map(([text]) => said(text))
    const details = inserted[2].split(', ').map((key, at) => `the ${wordsOf(key)} ${values[at]}`)
    const row = `${withArticle(rowsOf(inserted[1]).one)} with ${listed(details)}`
    return requests([`add ${row}`, `insert ${row}`, `create ${row}`], [`note down ${row}`])
  }
  const updated = forms.update.exec(sql)
  if (updated !== null) {
    const [, table, column, wanted, ...condition] = updated
    const { many, where: which } = rowsOf(table, condition, random)
    const [key, to] = [`the ${wordsOf(column)}`, `to ${said(wanted)}`]
    const rows = `${which === '' ? 'all' : 'the'} ${many}${which}`
    return requests(
      [`set ${key} ${to} for ${rows}`, `change ${key} ${to} for ${rows}`, `update ${key} ${to} for ${rows}`],
      [`turn ${key} ${to} for ${rows}`],
    )
  }
  const removed = forms.remove.exec(sql)
  if (removed === null) return undefined
  const { many, where: which } = rowsOf(removed[1], removed.slice(2), random)
  const rows = `${which === '' ? 'all' : 'the'} ${many}${which}`
  return requests([`delete ${rows}`, `remove ${rows}`, `get rid of ${rows}`], [`erase ${rows}`])
}

const aggregates: Readonly<Record<string, readonly string[]>> = {
  SUM: ['the total', 'the sum of the'],
  MIN: ['the lowest', 'the smallest'],
  MAX: ['the highest', 'the largest'],
  AVG: ['the average', 'the mean'],
}

function selectWords(sql: string, random: Random): Computation | undefined {
  const counted = forms.count.exec(sql)
  if (counted !== null) {
    const { many, where: which } = rowsOf(counted[1], counted.slice(2), random)
    const rows = `${many}${which}`
    return asked(
      [`the number of ${rows}`, `how many ${rows} there are`],
      [`the tally of ${rows}`],
      [`count the ${rows}`],
      [`tally the ${rows}`],
    )
  }
  const totalled = forms.total.exec(sql)
  if (totalled !== null) {
    const { many, where: which } = rowsOf(totalled[3], totalled.slice(4), random)
    const column = wordsOf(totalled[2])
    const phrases = aggregates[totalled[1]].map((front) =>
      front.endsWith('of the')
        ? `${front} ${plural(column)} of the ${many}${which}`
        : `${front} ${column} of the ${many}${which}`,
    )
    const found = phrases.map((phrase) => `find ${phrase}`)
    return asked(
      phrases,
      [`the ${totalled[1].toLowerCase()} ${column} among the ${many}${which}`],
      found,
      found,
    )
  }
  const selected = forms.select.exec(sql)
  if (selected === null) return undefined
  const [, column, table, key, sign, wanted, by, down] = selected
  const { many, where: which } = rowsOf(table, [key, sign, wanted], random)
  const order =
    by === undefined ? '' : `, ordered by ${wordsOf(by)}${down === undefined ? '' : ' from high to low'}`
  const rows =
    column === '*'
      ? `all ${many}${which}${order}`
      : `the ${plural(wordsOf(column))} of the ${many}${which}${order}`
  return asked([rows], [rows], [`list ${rows}`, `show me ${rows}`, `look up ${rows}`], [`pull up ${rows}`])
}

function rowsOf(
  table: string,
  [column, sign, wanted]: readonly (string | undefined)[] = [],
  random?: Random,
): Rows {
  const words = nameWords(table).join(' ')
  const [one, many] = [inNumber(words, false), inNumber(words, true)]
  if (column === undefined || wanted === undefined) return { one, many, where: '' }
  const key = wordsOf(column)
  const text = said(wanted)
  const signs: Readonly<Record<string, readonly string[]>> = {
    '=': [` whose ${key} is ${text}`, ` with the ${key} ${text}`],
    '>=': [` whose ${key} is at least ${text}`],
    '<=': [` whose ${key} is at most ${text}`],
    '>': [` whose ${key} is above ${text}`, ` with ${withArticle(key)} above ${text}`],
  }
  const ways = signs[sign ?? '=']
  return { one, many, where: random === undefined ? ways[0] : random.pick(ways) }
}

/** A column in words: `unit_price` as "unit price", `ordered_on` as "ordered date". */
const wordsOf = (column: string): string => dated(nameWords(column)).join(' ')

/** What the rows are that such a call, or a SELECT statement in it, is about: "order item". Undefined for any other call. */
export function rowNoun(args: Readonly<PlainObject>, random: Random): string | undefined {
  const selected = Object.values(args).map(selectedNoun)
  const { table } = partsOf(args)
  const named = table === undefined || rowWords(args, 'reads', random) === undefined ? undefined : table
  return selected.find((noun) => noun !== undefined) ?? (named === undefined ? undefined : rowsOf(named).one)
}

/** What a row of a SELECT statement is called, by its table; undefined for any other value. */
export function selectedNoun(value: unknown): string | undefined {
  const table = typeof value === 'string' ? /^SELECT\b.* FROM (\w+)/i.exec(value)?.[1] : undefined
  return table === undefined ? undefined : rowsOf(table).one
}

/** A literal as text. */
const said = (literal: string): string =>
  literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : literal

function requests(usual: readonly string[], rare: readonly string[]): Computation {
  return { requests: usual, rareRequests: rare, phrases: [], rarePhrases: [] }
}

function asked(
  phrases: readonly string[],
  rarePhrases: readonly string[],
  usual: readonly string[],
  rare: readonly string[],
): Computation {
  return { phrases, rarePhrases, requests: usual, rareRequests: rare }
}
