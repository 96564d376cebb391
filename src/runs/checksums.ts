import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { open, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { defined } from '../defined.ts'
import { AgogeError } from '../error.ts'
import { readForeignFile } from '../untrusted/foreign-file.ts'
import { parseForeignJson } from '../untrusted/foreign-json.ts'
import { withFileErrors } from './files.ts'
import type { RunFolder } from './run-folder.ts'

/** The checksums of a folder, in the format of `sha256sum -c`. */
export const checksumsFile = 'checksums.sha256'

/** The SHA-256 hash in hexadecimal. Strings are hashed as UTF-8. */
export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** Checksums by file name, as text. */
export function formatChecksums(sums: ReadonlyMap<string, string>): string {
  return [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join('')
}

/** The inverse of `formatChecksums`. Undefined if the text is empty or not such a list. */
export function parseChecksums(text: string): Map<string, string> | undefined {
  const lines = text.split('\n')
  if (lines.pop() !== '' || lines.length === 0) return undefined
  const sums = new Map<string, string>()
  for (const line of lines) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}([\w.-]+(?:\/[\w.-]+)*)$/.exec(line) ?? []
    // A name must not lead out of the folder.
    if (sum === undefined || name.split('/').includes('..')) return undefined
    sums.set(name, sum)
  }
  return sums
}

/** Writes the list for the named files of a folder. Default: all files in it and its subfolders. */
export async function writeChecksums(folder: string, only?: readonly string[]): Promise<void> {
  const names = only ?? (await filesIn(folder))
  const sums = new Map<string, string>()
  for (const name of names) sums.set(name, await hashFile(join(folder, name)))
  await writeFile(join(folder, checksumsFile), formatChecksums(sums))
}

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found
    .filter((entry) => entry.isFile() && entry.name !== checksumsFile)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
}

/**
 * Compares the files of a folder with its list of checksums. A folder without a list passes, such as a public checkpoint or one
 * of an earlier version.
 *
 * @param counts selects the listed files to compare. Default: all.
 * @throws AgogeError `bad-checkpoint` naming the first file that is missing or changed.
 */
export async function verifyChecksums(folder: string, counts?: (name: string) => boolean): Promise<void> {
  const damage = await findDamage(folder, counts)
  if (damage === undefined) return
  const intact = await intactBeside(folder)
  const { file, given, expected } = damage
  throw new AgogeError(`${file} ${given === missing ? 'is missing' : 'is damaged'}`, {
    code: 'bad-checkpoint',
    given,
    expected,
    hint: `${
      intact.length === 0
        ? 'Put the file back from a copy, or begin a new run'
        : `Intact checkpoints beside it: ${intact.join(', ')}`
    }; if the file was changed on purpose, remove ${join(folder, checksumsFile)}`,
  })
}

const missing = 'no such file'

/** What an error shows of a text. */
export const startOf = (text: string): string => text.slice(0, 80)

async function findDamage(
  folder: string,
  counts: (name: string) => boolean = () => true,
): Promise<{ file: string; given: string; expected: string } | undefined> {
  const list = join(folder, checksumsFile)
  if (!existsSync(list)) return undefined
  const text = withFileErrors(list, () => readForeignFile(list, (found) => found))
  const sums = parseChecksums(text)
  if (sums === undefined)
    return { file: list, given: text.slice(0, 80), expected: 'lines of a sha-256 and the name of a file' }
  for (const [name, sum] of sums) {
    if (!counts(name)) continue
    const file = join(folder, name)
    const given = !existsSync(file)
      ? missing
      : statSync(file).isFile()
        ? `sha-256 ${await hashFile(file)}`
        : 'a folder'
    const expected = `sha-256 ${sum}`
    if (given !== expected) return { file, given, expected: `${expected}, as it was saved` }
  }
  return undefined
}

/** Other intact checkpoints in the same parent folder. */
async function intactBeside(folder: string): Promise<string[]> {
  const parent = dirname(folder)
  const intact: string[] = []
  for (const entry of await readdir(parent, { withFileTypes: true })) {
    const path = join(parent, entry.name)
    if (entry.name === basename(folder) || !existsSync(join(path, checksumsFile))) continue
    if ((await findDamage(path)) === undefined) intact.push(path)
  }
  return intact
}

const pieceBytes = 2 ** 22

/** Reads piece by piece: weights may be larger than one read allows. */
async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const piece = new Uint8Array(Math.min(pieceBytes, Math.max(1, size)))
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(piece.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}

/** An object as JSON, with a checksum of its other fields in the field `sha256`. */
export function withChecksum(fields: object, indent?: number): string {
  return `${JSON.stringify({ ...fields, sha256: sha256(JSON.stringify(fields)) }, null, indent)}\n`
}

/**
 * The object that `withChecksum` wrote, and its checksum. The checksum is undefined in files of earlier versions.
 *
 * @returns undefined if the text is not a JSON object or does not match its checksum.
 */
export function readWithChecksum(
  text: string,
): { fields: Record<string, unknown>; sum?: string } | undefined {
  let value: unknown
  try {
    value = parseForeignJson(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { sha256: sum, ...fields } = value as Record<string, unknown>
  if (sum === undefined) return hasChecksumByAnotherName(fields) ? undefined : { fields }
  return sum === sha256(JSON.stringify(fields)) ? { fields, sum } : undefined
}

/** A file with a damaged field name must not pass as one of an earlier version. */
function hasChecksumByAnotherName(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.values(fields).some((value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value))
}

/**
 * Writes a file that the result of a run depends on, and its checksum in the run's `checksums.sha256`. The checksum is added
 * after the file is written, so a kill in between leaves a file without a checksum, which is no error.
 */
export function writeChecked(folder: RunFolder, name: string, content: string | Uint8Array): void {
  const sums = readSums(folder.path)
  if (sums.delete(name)) writeSums(folder, sums)
  folder.write(name, content)
  writeSums(folder, sums.set(name, sha256(content)))
}

/**
 * Reads the text of a file from `writeChecked`. A file without a checksum passes.
 *
 * @throws AgogeError `bad-run-folder` if the file is missing or changed.
 */
export function readChecked<T>(folder: RunFolder, name: string, check: (text: string) => T): T {
  requireChecked(folder.path, name)
  return folder.read(name, check)
}

/** Like `readChecked`, for binary files. */
export function readCheckedBytes(folder: RunFolder, name: string): Uint8Array {
  requireChecked(folder.path, name)
  return folder.readBytes(name)
}

/** Like `readChecked`, split into lines. */
export const checkedLines = (folder: RunFolder, name: string): string[] =>
  readChecked(folder, name, (text) => text.split('\n').slice(0, -1))

/** Whether the file exists. @throws AgogeError `bad-run-folder` if it has a checksum and is missing or changed. */
export function hasChecked(folder: RunFolder, name: string): boolean {
  requireChecked(folder.path, name)
  return folder.has(name)
}

/** Removes missing files within the named folder from the list, after they were deleted on purpose. */
export function forgetChecked(folder: RunFolder, within: string): void {
  const sums = readSums(folder.path)
  const gone = [...sums.keys()].filter((name) => name.startsWith(`${within}/`) && !folder.has(name))
  if (gone.length === 0) return
  for (const name of gone) sums.delete(name)
  writeSums(folder, sums)
}

/** Compares a file of the run with its checksum, if it has one. @throws AgogeError `bad-run-folder` as `readChecked`. */
export function requireChecked(path: string, name: string): void {
  const sum = readSums(path).get(name)
  if (sum === undefined) return
  const file = join(path, name)
  if (!existsSync(file)) throw damagedFile(file, { given: 'no such file', expected: `sha-256 ${sum}` })
  const given = sha256(withFileErrors(file, () => readFileSync(file)))
  if (given !== sum)
    throw damagedFile(file, { given: `sha-256 ${given}`, expected: `sha-256 ${sum}, as it was written` })
}

/** Like `requireChecked`, for all files of a folder of the run. */
export function requireCheckedWithin(path: string, within: string): void {
  for (const name of readSums(path).keys()) if (name.startsWith(`${within}/`)) requireChecked(path, name)
}

/** The error for a missing or changed file of a run. */
export function damagedFile(
  file: string,
  { given, expected, hint, cause }: { given: unknown; expected: string; hint?: string; cause?: unknown },
): AgogeError {
  return new AgogeError(`${file} ${existsSync(file) ? 'is damaged' : 'is missing'}`, {
    code: 'bad-run-folder',
    given,
    expected,
    hint: hint ?? 'Restore the file from a copy, or start a new run',
    ...defined({ cause }),
  })
}

function readSums(path: string): Map<string, string> {
  const file = join(path, checksumsFile)
  if (!existsSync(file)) return new Map()
  const text = withFileErrors(file, () => readForeignFile(file, (found) => found))
  const sums = parseChecksums(text)
  if (sums !== undefined) return sums
  throw damagedFile(file, {
    given: text.slice(0, 80),
    expected: 'lines of a sha-256 and the name of a file',
    hint: 'Restore the file from a copy; without it, damage of other files cannot be detected',
  })
}

function writeSums(folder: RunFolder, sums: ReadonlyMap<string, string>): void {
  if (sums.size === 0) folder.remove(checksumsFile)
  else folder.write(checksumsFile, formatChecksums(sums))
}

const timesFile = 'times.json'

/**
 * Stores durations, and lengths of files that contain them, beside a checkpoint, so that checkpoints of equal runs have equal
 * bytes. Call it before the new checkpoint replaces the old one. The file then holds the times of the new one and of those before.
 *
 * @param before checksums of the checkpoints that can still be resumed from.
 * @param sum checksum of the new checkpoint.
 */
export function saveTimes(folder: RunFolder, before: readonly string[], sum: string, times: object): void {
  const earlier = before.flatMap((known) => {
    const found = known === sum ? undefined : findTimes(folder, known)
    return found === undefined ? [] : [[known, found] as const]
  })
  folder.write(timesFile, withChecksum({ times: { ...Object.fromEntries(earlier), [sum]: times } }, 1))
}

/** @throws AgogeError `bad-run-folder` if the times of this checkpoint are missing or changed. */
export function readTimes(folder: RunFolder, sum: string): Record<string, unknown> {
  const found = findTimes(folder, sum)
  if (found !== undefined) return found
  throw damagedFile(folder.file(timesFile), {
    given: folder.has(timesFile) ? folder.read(timesFile, startOf) : 'no such file',
    expected: 'the durations at the last checkpoint, and how long its growing files were then',
  })
}

function findTimes(folder: RunFolder, sum: string): Record<string, unknown> | undefined {
  if (!folder.has(timesFile)) return undefined
  const times = folder.read(timesFile, readWithChecksum)?.fields['times']
  return (times as Record<string, Record<string, unknown>> | undefined)?.[sum]
}

/** The error for a finished run without its trained weights. */
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
