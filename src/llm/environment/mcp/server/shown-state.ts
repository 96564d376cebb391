import { recordsOf } from '../arguments/text-records.ts'
import { columnType, type TableRecord } from '../arguments/sql-tables.ts'
import { isPlainObject, parseJson, type PlainObject } from '../salient.ts'

/** Rows of one table that arguments are taken from. */
const mostRows = 20

/** What the `show` command of a service printed, by name: the members of a JSON object, or else the text. */
export function shownState(text: string): Record<string, unknown> {
  const json = parseJson(text)
  return isPlainObject(json) ? json : { service: text.trim() }
}

/**
 * The records that the `show` command of a service printed. In a JSON object each list of objects is a table: its columns
 * are the properties of its rows, and up to 20 rows are returned. Objects with `table` and `columns` declare the columns of
 * a table as in `CREATE TABLE`, also of an empty one. Everything else is read like the result of a tool.
 *
 * @example
 * shownRecords('{"pets":[{"id":1,"name":"Rex"}]}')
 * // [{ table: 'pets', columns: ['id INTEGER', 'name TEXT'] }, { id: 1, name: 'Rex' }]
 */
export function shownRecords(text: string): PlainObject[] {
  const json = parseJson(text)
  if (!isPlainObject(json)) return recordsOf(text)
  const members = Object.entries(json)
  const declared = members.flatMap(([, value]) => (isDeclarations(value) ? value : []))
  const others = members.filter(([, value]) => !isDeclarations(value))
  return [
    ...declared,
    ...others.flatMap(([table, value]): PlainObject[] => {
      if (!isRows(value)) return recordsOf(JSON.stringify({ [table]: value }))
      const names = [...new Set(value.flatMap((row) => Object.keys(row)))]
      const known = declared.some((declaration) => declaration.table === table)
      return [
        ...(known ? [] : [{ table, columns: names.map((name) => `${name} ${columnType(value, name)}`) }]),
        // A row without a value for a column still belongs to the table.
        ...value
          .slice(0, mostRows)
          .map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]))),
      ]
    }),
  ]
}

function isRows(value: unknown): value is PlainObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPlainObject)
}

function isDeclarations(value: unknown): value is TableRecord[] {
  return (
    isRows(value) &&
    value.every(
      ({ table, columns }) =>
        typeof table === 'string' &&
        Array.isArray(columns) &&
        columns.every((column) => typeof column === 'string'),
    )
  )
}
