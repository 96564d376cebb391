import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { open, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { AgogeError } from '../error.ts'

/** The list of checksums in a folder, as `sha256sum -c` reads it. */
export const checksumsFile = 'checksums.sha256'

/** Of text, its UTF-8; in hexadecimal. */
export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** Checksums by file name, as text. */
export function formatChecksums(sums: ReadonlyMap<string, string>): string {
  return [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join('')
}

/** The checksums again; undefined where the text is not such a list, or an empty one. */
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

/** Writes the list for the named files of a folder; default: all files in it and beneath. */
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
 * Compares the files of a folder with its list of checksums; a folder without one (public checkpoints, those of earlier versions)
 * passes.
 *
 * @param counts which of the listed files to compare. Default: all.
 * @throws AgogeError `bad-checkpoint` naming the first file that is missing or has another content than was saved.
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

async function findDamage(
  folder: string,
  counts: (name: string) => boolean = () => true,
): Promise<{ file: string; given: string; expected: string } | undefined> {
  const list = join(folder, checksumsFile)
  if (!existsSync(list)) return undefined
  const text = readFileSync(list, 'utf8')
  const sums = parseChecksums(text)
  if (sums === undefined)
    return { file: list, given: text.slice(0, 80), expected: 'lines of a sha-256 and the name of a file' }
  for (const [name, sum] of sums) {
    if (!counts(name)) continue
    const file = join(folder, name)
    const given = existsSync(file) ? `sha-256 ${await hashFile(file)}` : missing
    const expected = `sha-256 ${sum}`
    if (given !== expected) return { file, given, expected: `${expected}, as it was saved` }
  }
  return undefined
}

/** Other checkpoints in the same parent folder whose files are what was saved. */
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

/** Piece by piece: weights may be larger than what can be read at once. */
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
 * The object that `withChecksum` wrote, without its checksum, which is undefined where an earlier version wrote none.
 *
 * @returns undefined where the text is no JSON object, or not what was written.
 */
export function readWithChecksum(
  text: string,
): { fields: Record<string, unknown>; sum?: string } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { sha256: sum, ...fields } = value as Record<string, unknown>
  if (sum === undefined) return hasChecksumByAnotherName(fields) ? undefined : { fields }
  return sum === sha256(JSON.stringify(fields)) ? { fields, sum } : undefined
}

/** A name that is damaged must not make a file one of an earlier version. */
function hasChecksumByAnotherName(fields: Readonly<Record<string, unknown>>): boolean {
  return Object.values(fields).some((value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value))
}
