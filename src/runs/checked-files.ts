import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../error.ts'
import {
  checksumsFile,
  formatChecksums,
  readWithChecksum,
  parseChecksums,
  withChecksum,
  sha256,
} from './checksums.ts'
import { withFileErrors } from './file-error.ts'
import type { RunFolder } from './run-folder.ts'

/**
 * Writes a file of a run that its result depends on, and its checksum into `checksums.sha256` of the run folder. A file that is listed is
 * whole: the list names it only after it was written, so that a kill in between leaves a file without checksum, not a false alarm.
 */
export function writeChecked(folder: RunFolder, name: string, content: string | Uint8Array): void {
  const sums = readSums(folder.path)
  if (sums.delete(name)) writeSums(folder, sums)
  folder.write(name, content)
  writeSums(folder, sums.set(name, sha256(content)))
}

/** @throws AgogeError `bad-run-folder` where the file is not what `writeChecked` wrote, or is gone. Files without a checksum pass. */
export function readChecked(folder: RunFolder, name: string): string {
  requireChecked(folder.path, name)
  return folder.read(name)
}

/** The lines of such a file. */
export const checkedLines = (folder: RunFolder, name: string): string[] =>
  readChecked(folder, name).split('\n').slice(0, -1)

/** Whether there is such a file; throws where there was one. */
export function hasChecked(folder: RunFolder, name: string): boolean {
  requireChecked(folder.path, name)
  return folder.has(name)
}

/** Takes files that are gone, and were no longer needed, off the list: those in the named folder. */
export function forgetChecked(folder: RunFolder, within: string): void {
  const sums = readSums(folder.path)
  const gone = [...sums.keys()].filter((name) => name.startsWith(`${within}/`) && !folder.has(name))
  if (gone.length === 0) return
  for (const name of gone) sums.delete(name)
  writeSums(folder, sums)
}

/** Compares a file of the run in this folder with its checksum, if it has one. @throws AgogeError `bad-run-folder` as `readChecked`. */
export function requireChecked(path: string, name: string): void {
  const sum = readSums(path).get(name)
  if (sum === undefined) return
  const file = join(path, name)
  if (!existsSync(file)) throw damagedFile(file, { given: 'no such file', expected: `sha-256 ${sum}` })
  const given = sha256(withFileErrors(file, () => readFileSync(file)))
  if (given !== sum)
    throw damagedFile(file, { given: `sha-256 ${given}`, expected: `sha-256 ${sum}, as it was written` })
}

/** The error for a file of a run that is gone or not what was written. */
export function damagedFile(
  file: string,
  { given, expected, hint, cause }: { given: unknown; expected: string; hint?: string; cause?: unknown },
): AgogeError {
  return new AgogeError(`${file} ${existsSync(file) ? 'is damaged' : 'is missing'}`, {
    code: 'bad-run-folder',
    given,
    expected,
    hint: hint ?? 'Put the file back from a copy, or begin a new run',
    ...(cause === undefined ? {} : { cause }),
  })
}

function readSums(path: string): Map<string, string> {
  const file = join(path, checksumsFile)
  if (!existsSync(file)) return new Map()
  const text = withFileErrors(file, () => readFileSync(file, 'utf8'))
  const sums = parseChecksums(text)
  if (sums !== undefined) return sums
  throw damagedFile(file, {
    given: text.slice(0, 80),
    expected: 'lines of a sha-256 and the name of a file',
    hint: 'Put the file back from a copy; without it nothing tells whether other files of the run are damaged',
  })
}

function writeSums(folder: RunFolder, sums: ReadonlyMap<string, string>): void {
  if (sums.size === 0) folder.remove(checksumsFile)
  else folder.write(checksumsFile, formatChecksums(sums))
}

const timesFile = 'times.json'

/**
 * Keeps what depends on clocks (durations, and lengths of files that hold them) beside a checkpoint, so that checkpoints of equal runs have
 * equal bytes. It is written before the checkpoint takes the place of the one before, and holds the times of both.
 *
 * @param before checksum of the checkpoint that is there now; undefined: none, or one of an earlier version.
 * @param sum of the one that is about to take its place.
 */
export function saveTimes(folder: RunFolder, before: string | undefined, sum: string, times: object): void {
  const found = before === undefined || before === sum ? undefined : findTimes(folder, before)
  const earlier = found === undefined ? {} : { [before!]: found }
  folder.write(timesFile, withChecksum({ times: { ...earlier, [sum]: times } }, 1))
}

/** @throws AgogeError `bad-run-folder` where the times of this checkpoint are gone, or not what was written. */
export function readTimes(folder: RunFolder, sum: string): Record<string, unknown> {
  const found = findTimes(folder, sum)
  if (found !== undefined) return found
  throw damagedFile(folder.file(timesFile), {
    given: folder.has(timesFile) ? folder.read(timesFile).slice(0, 80) : 'no such file',
    expected: 'the durations at the last checkpoint, and how long its growing files were then',
  })
}

function findTimes(folder: RunFolder, sum: string): Record<string, unknown> | undefined {
  if (!folder.has(timesFile)) return undefined
  const times = readWithChecksum(folder.read(timesFile))?.fields['times']
  return (times as Record<string, Record<string, unknown>> | undefined)?.[sum]
}

/** The error for a finished run that has lost what it trained. */
export function weightsGone(run: string): AgogeError {
  const checkpoints = join(run, 'checkpoints')
  const left = existsSync(checkpoints) ? readdirSync(checkpoints).filter((name) => name !== 'final') : []
  return new AgogeError(`The run in ${run} is finished, but its trained weights are gone`, {
    code: 'no-model',
    given: left.length === 0 ? `nothing in ${checkpoints}` : `${left.join(', ')} in ${checkpoints}`,
    expected: 'the weights that it ended with',
    hint:
      left.length === 0
        ? 'Put them back from a copy, or train again'
        : `Put them back from a copy, or name a checkpoint that is left, such as ${join(checkpoints, left[0])}`,
  })
}
