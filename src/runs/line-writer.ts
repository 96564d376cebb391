import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeFolder, renameFlushed, withFileErrors } from './files.ts'

/** Writes a file line by line. It has its name once it is complete. */
export interface LineWriter {
  write: (line: string) => void
  /** Completes the file. Replaces an earlier one. */
  finish: () => void
  /** Removes what was written, if the file is not complete. */
  discard: () => void
}

const mostWaiting = 2 ** 20

/**
 * Starts such a file beside its place. Creates missing folders.
 *
 * @throws AgogeError naming the file; its methods too.
 */
export function createLineWriter(path: string): LineWriter {
  makeFolder(dirname(path))
  const aside = join(dirname(path), `${basename(path)}.${process.pid}.part`)
  const file = withFileErrors(path, () => openSync(aside, 'w', 0o600))
  let waiting: string[] = []
  let size = 0
  let isOpen = true
  const flush = (): void =>
    withFileErrors(path, () => {
      const bytes = Buffer.from(waiting.join(''))
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
      waiting = []
      size = 0
    })
  const end = (): void => {
    if (isOpen) closeSync(file)
    isOpen = false
  }
  return {
    write(line) {
      waiting.push(`${line}\n`)
      size += line.length
      if (size > mostWaiting) flush()
    },
    finish() {
      flush()
      withFileErrors(path, () => {
        fsyncSync(file)
        end()
        renameFlushed(aside, path)
      })
    },
    discard() {
      end()
      rmSync(aside, { force: true })
    },
  }
}
