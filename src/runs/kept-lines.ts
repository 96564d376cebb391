import { existsSync, rmSync } from 'node:fs'
import { AgogeError } from '../error.ts'
import { damagedFile, readWithChecksum, withChecksum } from './checksums.ts'
import { appendLines, readLines, withFileErrors, writeWhole } from './files.ts'

/** What a command keeps while it works, so that it can go on after a stop. */
export interface KeptLines {
  /** What an earlier, stopped call kept, in its order. Empty for a new one. */
  earlier: readonly Readonly<Record<string, unknown>>[]
  /** Keeps one more. */
  keep: (line: object) => void
  /** Removes the file, when the result is written. */
  remove: () => void
}

/**
 * Opens a file in which a command keeps its finished pieces, one line of JSON with a checksum each. The first line says of what they are
 * pieces. A last line that is incomplete, because its writer was killed, is dropped.
 *
 * @param of what decides the pieces, such as settings and versions. A file of something else is refused.
 * @param resume whether the lines of an existing file are used. If there is no file, it begins anew
 * @throws AgogeError if there is a file and `resume` is false, if it is of something else, or if a line is damaged.
 *
 * @example
 * const kept = keepLines('scores.partial.jsonl', { id: 'carl', seeds: 20 }, { resume: true })
 */
export function keepLines(file: string, of: object, { resume }: { resume: boolean }): KeptLines {
  const found = existsSync(file)
  if (found && !resume)
    throw new AgogeError(`${file} holds what a stopped call has finished`, {
      code: 'run-exists',
      given: file,
      expected: 'no such file, or --resume',
      hint: 'Repeat the command with --resume, or remove the file',
    })
  const earlier = found ? readKept(file, of) : []
  if (!found) writeWhole(file, withChecksum(of))
  return {
    earlier,
    keep: (line) => withFileErrors(file, () => appendLines(file, [withChecksum(line).trimEnd()])),
    remove: () => withFileErrors(file, () => rmSync(file, { force: true })),
  }
}

function readKept(file: string, of: object): Record<string, unknown>[] {
  const lines = withFileErrors(file, () => readLines(file))
  const [head, ...kept] = lines.map((line, i) => {
    const { fields, sum } = readWithChecksum(line) ?? {}
    if (fields !== undefined && sum !== undefined) return fields
    throw damagedFile(file, {
      given: `line ${i + 1}: ${line.slice(0, 80)}`,
      expected: 'a line of JSON that matches its checksum',
      hint: 'Remove that line, unless it is the first; what it says is then done again',
    })
  })
  if (head === undefined)
    throw damagedFile(file, {
      given: 'no complete line',
      expected: 'a first line that says what the others are about',
      hint: 'Remove the file, and begin anew',
    })
  if (JSON.stringify(head) === JSON.stringify(of)) return kept
  throw new AgogeError(`${file} is of something else`, {
    code: 'bad-run-folder',
    given: JSON.stringify(head),
    expected: JSON.stringify(of),
    hint: 'Remove the file to begin anew, or give another place',
  })
}
