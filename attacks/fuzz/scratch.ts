// The folder of this thread, for parsers that read files.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

let own: string | undefined

/** Sets the folder in which each thread makes its own. */
export function useFolder(parent: string): void {
  own = join(parent, `thread-${threadId}`)
  mkdirSync(own, { recursive: true })
}

/** The folder of this thread. */
export function folder(): string {
  if (own === undefined) throw new Error('useFolder was not called')
  return own
}
