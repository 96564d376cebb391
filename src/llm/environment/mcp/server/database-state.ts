import { createHash } from 'node:crypto'
import { parseOwnJson } from '../../../../untrusted/own-json.ts'
import { isPlainObject, type PlainObject } from '../salient.ts'

/** What a database keeps, by what it is of: `rows of orders`, `indexes`. */
export type DatabaseState = Record<string, unknown>

/** Longest rows that are described by themselves: each task keeps those that it adds and removes. */
const longestRows = 20_000
/** Rows of one table that arguments are taken from. */
const mostRows = 20

/** The tables of a state with the exact declarations of their columns, and up to 20 rows of each. */
export function tableRecords(
  columns: Readonly<Record<string, readonly string[]>>,
  state: DatabaseState,
): PlainObject[] {
  return Object.entries(columns).flatMap(([table, declarations]): PlainObject[] => [
    { table, columns: [...declarations], exact: true },
    ...((state[`rows of ${table}`] ?? []) as PlainObject[]).slice(0, mostRows),
  ])
}

/** Rows by themselves, or their number and a digest if they are too many. */
function briefly(rows: readonly unknown[]): unknown {
  const text = JSON.stringify(rows)
  if (text.length <= longestRows) return rows
  return { rows: rows.length, digest: createHash('sha256').update(text).digest('base64') }
}

/** What two lists do not share, whatever their order is. */
export interface ListDifference {
  added: unknown
  removed: unknown
}

/**
 * What differs: of a list that was there before what was added and removed, of anything else the value that it has now, and null
 * for what is gone.
 */
export function differing(before: DatabaseState, now: DatabaseState): DatabaseState {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])]
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]))
      .map((name) => {
        const [old, present] = [before[name], now[name] ?? null]
        if (!Array.isArray(present)) return [name, present]
        return [name, Array.isArray(old) ? listDifference(old, present) : briefly(present)]
      }),
  )
}

function listDifference(before: readonly unknown[], now: readonly unknown[]): ListDifference {
  const left = new Map<string, number>()
  for (const item of before.map((one) => JSON.stringify(one))) left.set(item, (left.get(item) ?? 0) + 1)
  const added = now.filter((item) => {
    const text = JSON.stringify(item)
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
  const removed = [...left].flatMap(([text, count]) =>
    Array.from({ length: Math.max(0, count) }, () => parseOwnJson(text)),
  )
  return { added: briefly(added), removed: briefly(removed) }
}

/** Whether a part of a state is what was added to a list and removed from it. */
export function isListDifference(value: unknown): value is ListDifference {
  return isPlainObject(value) && Object.keys(value).join() === 'added,removed'
}

/** What is there now, as far as the differences of a state tell: without what was removed. */
export function presentParts(state: unknown): unknown {
  if (!isPlainObject(state)) return state
  return Object.fromEntries(
    Object.entries(state).map(([name, part]) => [
      name,
      isListDifference(part) ? part.added : presentParts(part),
    ]),
  )
}
