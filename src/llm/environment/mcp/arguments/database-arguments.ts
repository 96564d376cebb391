import type { Random } from '../../../../engine/random/index.ts'
import type { PlainObject } from '../salient.ts'
import type { Place } from './making.ts'
import { columnValue, givenColumns } from './sql.ts'
import { tableBeside, tablesIn } from './sql-tables.ts'
import { spoken, type SplitWords } from './words.ts'

// Arguments of tools that name tables, columns and rows of a database beside each other.

interface DatabaseContext {
  known: readonly PlainObject[]
  recent?: readonly PlainObject[] | undefined
  words: SplitWords
  random: Random
}

/** A known table for a property that names one, and a column of the table beside it for one that names one or several. */
export function nameInDatabase(
  name: string,
  beside: PlainObject,
  { known, recent = [], random }: DatabaseContext,
): string | undefined {
  const of = /(?:^| )(table|column)s?(?: ?name)?$/.exec(spoken(name).join(' '))?.[1]
  if (of === undefined) return undefined
  const tables = tablesIn([...known, ...recent])
  if (of === 'table') return tables.length === 0 ? undefined : random.pick(tables).name
  const table = tableBeside([...known, ...recent], beside)
  return table === undefined ? undefined : random.pick(table.columns).name
}

/** Names of properties that say which rows are meant. */
const finding = /where|condition|filter|match|key/i

/**
 * A row of the table that is named beside a property, or a condition on its rows; one or two columns of a row if other rows
 * are to be changed by it. Undefined if no known table is named.
 */
export function rowBeside(
  { name, among = [] }: Pick<Place, 'name' | 'among'>,
  beside: PlainObject,
  { known, recent = [], random, words }: DatabaseContext,
): PlainObject | undefined {
  const table = tableBeside([...known, ...recent], beside)
  if (table === undefined) return undefined
  const columns = givenColumns(table)
  const row = table.rows.length > 0 ? random.pick(table.rows) : undefined
  const finds = finding.test(name)
  const updates = !finds && among.some((other) => finding.test(other))
  const some = updates ? random.shuffle(columns).slice(0, 1 + random.int(2)) : columns
  const chosen = finds ? [random.pick(columns)] : some
  return Object.fromEntries(
    chosen.map((column) => {
      const old = finds ? row?.[column.name] : undefined
      return [column.name, old ?? columnValue(column, words, random)]
    }),
  )
}
