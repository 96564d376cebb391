import { createHash } from 'node:crypto'
import type { PlainObject } from '../salient.ts'

/** What a database keeps, by what it is of: `rows of orders`, `indexes`. */
export type DatabaseState = Record<string, unknown>

/** Longest rows of a table that are described by themselves: each task keeps the tables that it changes. */
const longestRows = 20_000
/** Rows of one table that arguments are taken from. */
const mostRows = 20

/** The state with the number and a digest of rows that are too many to be described by themselves. */
export function briefly(state: DatabaseState): DatabaseState {
  return Object.fromEntries(
    Object.entries(state).map(([name, rows]) => {
      const text = JSON.stringify(rows)
      if (text.length <= longestRows || !Array.isArray(rows)) return [name, rows]
      return [name, { rows: rows.length, digest: createHash('sha256').update(text).digest('base64') }]
    }),
  )
}

/** The tables of a state with the declarations of their columns, and up to 20 rows of each. */
export function tableRecords(
  columns: Readonly<Record<string, readonly string[]>>,
  state: DatabaseState,
): PlainObject[] {
  return Object.entries(columns).flatMap(([table, declarations]): PlainObject[] => [
    { table, columns: [...declarations] },
    ...((state[`rows of ${table}`] ?? []) as PlainObject[]).slice(0, mostRows),
  ])
}

/** What is another value now, and null for what is gone. */
export function differing(before: DatabaseState, now: DatabaseState): DatabaseState {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]))
      .map((name) => [name, now[name] ?? null]),
  )
}
