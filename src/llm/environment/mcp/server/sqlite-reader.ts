import { Worker } from 'node:worker_threads'
import { startThread } from '../../../../engine/tensor/index.ts'
import { isThreadOutOfMemory } from '../../../../memory-error.ts'
import { createThreadQueue } from '../../../../thread-queue.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { PlainObject } from '../salient.ts'
import type { DatabaseState } from './database-state.ts'

/** What the thread is asked about a database. */
export interface DatabaseQuestion {
  what: 'difference' | 'records'
  now: Uint8Array
  before?: Uint8Array
}

export interface DatabaseAnswer {
  difference?: DatabaseState | undefined
  records?: PlainObject[]
}

/** Longest time for one question in milliseconds. A file of 26 MB with 300,000 rows took 2.4 seconds. */
const patience = 30_000

// One thread for all servers of the process: it keeps what it read, and a server is often one of several alike.
const thread = createThreadQueue<DatabaseQuestion, DatabaseAnswer>(() =>
  startThread(Worker, import.meta.url, 'sqlite-thread', undefined),
)

async function ask(question: DatabaseQuestion): Promise<DatabaseAnswer> {
  try {
    return await thread.ask(question, { most: patience })
  } catch (cause) {
    const isSlow = cause instanceof DOMException && cause.name === 'TimeoutError'
    const isLarge = isThreadOutOfMemory(cause)
    if (!isSlow && !isLarge) throw cause
    const within = isSlow ? `within ${patience / 1000} s` : 'in the memory of a thread'
    throw new InfrastructureError(`the database of the server cannot be read ${within}`, { cause })
  }
}

/**
 * Returns what differs between two SQLite files without a write-ahead log, by what it is of: `rows of orders`, `schema`. It is
 * found in a thread, because the file is a server's, of any size. Undefined if `now` cannot be read; all that is in `now` if
 * `before` is missing or cannot be read.
 *
 * @throws InfrastructureError if that takes more than 30 seconds, or more memory than a thread has
 * @example
 * await databaseDifference(before, readFileSync('shop.db')) // { 'rows of pets': { added: [{ id: 1 }], removed: [] } }
 */
export async function databaseDifference(
  before: Uint8Array | undefined,
  now: Uint8Array,
): Promise<DatabaseState | undefined> {
  const { difference } = await ask({ what: 'difference', now, ...(before && { before }) })
  return difference
}

/**
 * Returns the tables of a SQLite file with their columns as in `CREATE TABLE`, and up to 20 rows of each. Empty if it cannot be
 * read.
 *
 * @throws InfrastructureError if that takes more than 30 seconds, or more memory than a thread has
 */
export async function databaseRecords(contents: Uint8Array): Promise<PlainObject[]> {
  const { records = [] } = await ask({ what: 'records', now: contents })
  return records
}
