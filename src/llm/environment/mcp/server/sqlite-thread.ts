import { parentPort } from 'node:worker_threads'
import { differing, tableRecords } from './database-state.ts'
import type { DatabaseAnswer, DatabaseQuestion } from './sqlite-reader.ts'
import { createTableReader } from './sqlite-state.ts'

// A thread that reads databases, one after another.
const port = parentPort!
const reading = createTableReader()

async function answer({ now, before, what }: DatabaseQuestion): Promise<DatabaseAnswer> {
  const read = await reading
  const tables = read(now)
  if (what === 'records')
    return { records: tables === null ? [] : tableRecords(tables.columns, tables.state) }
  if (tables === null) return { difference: undefined }
  return { difference: differing((before && read(before)?.state) ?? {}, tables.state) }
}

port.on('message', (question: DatabaseQuestion) => {
  void answer(question).then((given) => port.postMessage(given))
})
