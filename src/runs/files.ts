import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import { readForeignFile } from '../untrusted/foreign-file.ts'

/** Explanations and remedies for the system's error codes. */
const meanings: Record<string, { reason: string; hint: string }> = {
  EACCES: {
    reason: 'permission denied',
    hint: 'Choose a place that you may write to, or change its permissions',
  },
  EPERM: { reason: 'not permitted', hint: 'Choose a place that you may write to, or change its permissions' },
  EROFS: { reason: 'the file system is read-only', hint: 'Choose a place on another file system' },
  ENOSPC: { reason: 'the disk is full', hint: 'Make room, or choose a place on another disk' },
  EDQUOT: { reason: 'the quota is used up', hint: 'Make room, or choose a place on another disk' },
  EFBIG: { reason: 'the file would be too large', hint: 'Choose a place on another file system' },
  ENOENT: { reason: 'there is no such file or folder', hint: 'Check the path' },
  ENOTDIR: { reason: 'a part of the path is a file', hint: 'Choose another path' },
  EISDIR: { reason: 'it is a folder', hint: 'Choose another path, or move the folder away' },
  EEXIST: {
    reason: 'a file stands where a folder is needed',
    hint: 'Choose another path, or move the file away',
  },
  ENOTEMPTY: { reason: 'the folder is not empty', hint: 'Choose another path' },
  ENAMETOOLONG: { reason: 'the name is too long', hint: 'Choose a shorter path' },
  ELOOP: { reason: 'its symbolic links go round in a circle', hint: 'Choose another path' },
  EBUSY: { reason: 'it is in use, perhaps a mount point', hint: 'Choose another path' },
  EXDEV: { reason: 'it lies on two file systems', hint: 'Choose another path' },
  EIO: { reason: 'the disk has a fault', hint: 'Choose a place on another disk' },
  EMFILE: { reason: 'this process has too many files open', hint: 'Raise the limit (ulimit -n)' },
  ENFILE: { reason: 'the system has too many files open', hint: 'Close other programs' },
}

/** The code of a failed file operation (`ENOSPC` ...). Undefined for other errors, including failed sockets and commands. */
export function fileErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const call = 'syscall' in error ? String(error.syscall) : ''
  if (/^(?:spawn|connect|listen|bind|kill|getaddrinfo)/.test(call)) return undefined
  return error.code in meanings ? error.code : undefined
}

/**
 * The AgogeError for a failed file operation: the path, the problem and what to do. Returns an AgogeError, or an error that is
 * not about files, unchanged.
 */
export function asFileError(path: string, cause: unknown): unknown {
  const code = fileErrorCode(cause)
  if (code === undefined || AgogeError.isInstance(cause)) return cause
  const { reason, hint } = meanings[code]
  return new AgogeError(`Cannot write or read ${path}: ${reason} (${code})`, {
    code: 'unusable-path',
    given: path,
    expected: 'a file or folder that can be written, on a disk with room',
    hint,
    cause,
  })
}

/** Runs a file operation. Turns its failure into an AgogeError that names the path and the remedy. */
export function withFileErrors<T>(path: string, operation: () => T): T {
  try {
    return operation()
  } catch (cause) {
    throw asFileError(path, cause)
  }
}

/** Like `withFileErrors`, for asynchronous work of other code, which may wrap the system's error in its own. */
export async function withFileErrorsAsync<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const inner =
      AgogeError.isInstance(cause) && fileErrorCode(cause.cause) !== undefined ? cause.cause : cause
    throw asFileError(path, inner)
  }
}

/**
 * Creates a folder and its missing parents one by one. Node's own recursive mkdir never returns on file systems that cannot
 * create folders and report ENOENT, such as /proc.
 *
 * @returns the folders that did not exist before, the outermost first.
 * @throws AgogeError naming the folder.
 */
export function makeFolder(given: string): string[] {
  const path = resolve(given)
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    const found = withFileErrors(at, () => statSync(at, { throwIfNoEntry: false }))
    if (found?.isDirectory() === true) break
    if (found !== undefined) throw asFileError(path, fileInTheWay(at === path ? 'EEXIST' : 'ENOTDIR'))
    missing.unshift(at)
  }
  const made: string[] = []
  for (const folder of missing) {
    try {
      mkdirSync(folder)
      made.push(folder)
    } catch (cause) {
      // Another process may have created it in the meantime.
      if (fileErrorCode(cause) === 'EEXIST' && isFolder(folder)) continue
      throw fileErrorCode(cause) === 'ENOENT' ? noFoldersHere(folder, cause) : asFileError(folder, cause)
    }
  }
  return made
}

/** Writes a test file into the folder and removes it: permission bits alone miss read-only mounts, quotas and full disks. */
export function requireWritable(folder: string): void {
  const file = join(folder, `.agoge-file-${process.pid}`)
  withFileErrors(folder, () => {
    try {
      writeFileSync(file, 'x')
    } finally {
      rmSync(file, { force: true })
    }
  })
}

/** Checks whether the folder can be created and written, and leaves no changes. */
export function checkFolder(folder: string): void {
  const made = makeFolder(folder)
  try {
    requireWritable(folder)
  } finally {
    for (const path of made.reverse()) rmdirSync(path)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function fileInTheWay(code: string): Error {
  return Object.assign(new Error('a file is in the way'), { code })
}

function noFoldersHere(folder: string, cause: unknown): AgogeError {
  return new AgogeError(`Cannot create the folder ${folder}: its file system does not allow it`, {
    code: 'unusable-path',
    given: folder,
    expected: 'a folder on a disk',
    hint: 'Choose another path',
    cause,
  })
}

/** Files that `writeWhole` has not finished. */
const unfinished = /\.\d+\.part$/

/** Removes what processes that were killed while they wrote left in a folder and below it. Nobody else may write there. */
export function removeUnfinished(folder: string): void {
  withFileErrors(folder, () => {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile() && unfinished.test(entry.name))
        rmSync(join(entry.parentPath, entry.name), { force: true })
  })
}

/**
 * Writes a file atomically: it is either complete or unchanged, even after a kill, a power cut or on a full disk. Writes a temporary file and
 * renames it. Devices, pipes and links (`/dev/stdout`) are written directly. Creates missing folders.
 *
 * @param mode permissions of a new file. Default: what the process gives new files.
 * @throws AgogeError naming the file.
 */
export function writeWhole(path: string, text: string | Uint8Array, mode?: number): void {
  makeFolder(dirname(path))
  withFileErrors(path, () => {
    if (isSpecial(path)) return writeFileSync(path, text)
    const aside = join(dirname(path), `${basename(path)}.${process.pid}.part`)
    try {
      writeFileSync(aside, text, mode === undefined ? {} : { mode })
      renameFlushed(aside, path)
    } catch (error) {
      rmSync(aside, { force: true })
      throw error
    }
  })
}

/**
 * Waits until a file or folder is on the disk. Without it a power cut may leave an empty file under the new name, because the
 * rename can reach the disk before the contents.
 */
export function flush(path: string): void {
  const folder = isFolder(path)
  // Windows opens no folders, and writes their entries by itself.
  if (folder && process.platform === 'win32') return
  const file = openSync(path, folder ? 'r' : 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Renames a file or folder so that after a power cut the new name has the old contents or all of the new ones. */
export function renameFlushed(from: string, to: string): void {
  const inside = isFolder(from) ? readdirSync(from, { recursive: true, encoding: 'utf8' }) : []
  for (const name of inside) flush(join(from, name))
  flush(from)
  renameSync(from, to)
  flush(dirname(to))
}

/** Checks whether `writeWhole` could write there, and leaves no changes. @throws AgogeError naming the file or its folder. */
export function checkFile(given: string): void {
  const path = resolve(given)
  const found = withFileErrors(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (found?.isDirectory() === true)
    throw new AgogeError(`${path} is a folder`, {
      code: 'unusable-path',
      given: path,
      expected: 'a file, new or to be replaced',
      hint: 'Choose another path',
    })
  if (!isSpecial(path)) checkFolder(dirname(path))
}

function isSpecial(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isDirectory()
}

/** Appends lines (without newlines) in one write. Truncates an incomplete last line first. */
export function appendLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return
  const file = openSync(path, 'a+')
  try {
    const end = lastLineEnd(file)
    if (end < fstatSync(file).size) ftruncateSync(file, end)
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    // The system may write only part of the data, for instance on a nearly full disk. Repeats until all is written or an error
    // occurs.
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
  } finally {
    closeSync(file)
  }
}

/** Bytes: V8 has no text of more characters. */
const longestText = 2 ** 29

/** The complete lines of a file, in order. Empty if it does not exist. */
export function readLines(path: string): string[] {
  if (!existsSync(path)) return []
  const lines = readForeignFile(path, (text) => text.split('\n'), longestText)
  lines.pop()
  return lines
}

/** Byte offset after the last newline. */
function lastLineEnd(file: number): number {
  const chunk = Buffer.alloc(1 << 16)
  for (let end = fstatSync(file).size; end > 0;) {
    const start = Math.max(0, end - chunk.length)
    readSync(file, chunk, 0, end - start, start)
    const newline = chunk.lastIndexOf(10, end - start - 1)
    if (newline >= 0) return start + newline + 1
    end = start
  }
  return 0
}
