import { createHash } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileErrorCode } from '../../../../runs/files.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { isPlainObject, parseJson } from '../salient.ts'
import { exceeds, type SizeLimit } from './slot-paths.ts'
import { databaseDifference } from './sqlite-reader.ts'

/** A file, folder, symbolic link or named pipe of a slot. */
export type SlotEntry =
  | { kind: 'file'; contents: Buffer; mode: number }
  | { kind: 'folder' }
  | { kind: 'link'; target: string }
  | { kind: 'pipe' }

/** The entries of a slot by their relative path, in sorted order, folders before what is in them. */
export type SlotFiles = ReadonlyMap<string, SlotEntry>

export interface FileTracker {
  /** Reads the folder. A file that has not changed since the last time is not read again. */
  read(): SlotFiles
  /** Makes the folder equal to what was read from it, or from another slot. Only what differs is written. */
  write(files: SlotFiles): void
}

/**
 * File systems stamp changes in steps of a few milliseconds. A file that was read so soon after its last change may
 * have changed again with the same stamp, so it is read anew.
 */
const stampMilliseconds = 50

// Synchronous on purpose: the files are few and small, and every call between two turns waits for them.

/**
 * Reads and restores the contents of a folder. Sockets are ignored. A server may do anything to its folder: what cannot be
 * read or restored is a fault of the server.
 *
 * @param most what may be added to the files that are there at first. More would take too long to look at.
 */
export function createFileTracker(
  root: string,
  most: SizeLimit = { bytes: 64_000_000, files: 5000 },
): FileTracker {
  const known = new Map<string, { stamp: string; entry: SlotEntry }>()
  const { ino } = lstatSync(root)
  /** What there was at first, with what may be added. */
  let limit: SizeLimit | undefined
  /** The highest number of a change or a schema that was written into a database. */
  let version = 0

  function checkSize(size: SizeLimit): void {
    if (limit === undefined || !exceeds(size, limit)) return
    const megabytes = Math.round(most.bytes / 1_000_000)
    throw new InfrastructureError(
      `the server added more than ${megabytes} MB or ${most.files} files to the folder that it runs in`,
    )
  }

  function readEntry(path: string, whole: string, size: SizeLimit): SlotEntry | undefined {
    const info = lstatSync(whole, { bigint: true, throwIfNoEntry: false })
    if (info === undefined) return undefined
    size.files++
    if (info.isFile()) size.bytes += Number(info.size)
    checkSize(size)
    if (info.isDirectory()) return { kind: 'folder' }
    const stamp = `${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`
    const before = known.get(path)
    if (before?.stamp === stamp) return before.entry
    const entry = readAnew(info, whole)
    if (entry === undefined) return undefined
    const same = before !== undefined && equalEntries(before.entry, entry) ? before.entry : entry
    const settled = Date.now() - Number(info.ctimeMs) > stampMilliseconds
    known.set(path, { stamp: settled ? stamp : '', entry: same })
    return same
  }

  function read(): Map<string, SlotEntry> {
    const found = new Map<string, SlotEntry>()
    const size = { bytes: 0, files: 0 }
    const visit = (folder: string): void => {
      const names = readdirSync(join(root, folder))
      checkSize({ bytes: size.bytes, files: size.files + names.length })
      for (const name of names.sort()) {
        const path = join(folder, name)
        const entry = readEntry(path, join(root, path), size)
        if (entry === undefined) continue
        found.set(path, entry)
        if (entry.kind === 'folder') visit(path)
      }
    }
    // A link in its place would lead to files of others.
    if (lstatSync(root).ino !== ino)
      throw new InfrastructureError('the server replaced the folder that it runs in')
    visit('')
    limit ??= { bytes: size.bytes + most.bytes, files: size.files + most.files }
    return found
  }

  function write(files: SlotFiles): void {
    const now = read()
    const isWrittenInto = (
      path: string,
      entry: SlotEntry | undefined,
      before: SlotEntry | undefined,
    ): boolean =>
      isDatabase(entry) && isDatabase(before) && !now.has(`${path}-wal`) && hasOneName(join(root, path))
    for (const [path, entry] of [...now].toReversed()) {
      const wanted = files.get(path)
      if (isWrittenInto(path, wanted, entry)) continue
      // A changed file is removed first: a server that still has the old one open must not see the new contents as
      // if it had written them.
      if (wanted === undefined || !equalEntries(wanted, entry))
        rmSync(join(root, path), { recursive: true, force: true })
    }
    for (const [path, entry] of files) {
      const before = now.get(path)
      if (before !== undefined && equalEntries(before, entry)) continue
      if (isDatabase(entry) && isDatabase(before) && isWrittenInto(path, entry, before)) {
        version = Math.max(version, versionOf(before)) + 1
        writeFileSync(join(root, path), withVersion(entry.contents, version), { flag: 'r+' })
        truncateSync(join(root, path), entry.contents.length)
      } else writeEntry(join(root, path), entry)
      known.delete(path)
    }
  }

  return { read: () => ofServer(read), write: (files) => ofServer(() => write(files)) }
}

/** The other names of a file are not in the slot: what is written into it would be written there too. */
function hasOneName(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.nlink === 1
}

/** Faults of the machine, not of what the server did to its files. */
const machineFaults = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE'])

function ofServer<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = fileErrorCode(error)
    if (code === undefined || machineFaults.has(code)) throw error
    const message = `the folder that the server runs in can no longer be read and restored (${code})`
    throw new InfrastructureError(message, { cause: error })
  }
}

function readAnew(
  info: { isFile(): boolean; isSymbolicLink(): boolean; isFIFO(): boolean; mode: bigint },
  whole: string,
): SlotEntry | undefined {
  if (info.isSymbolicLink()) return { kind: 'link', target: readlinkSync(whole) }
  // Reading one would wait for ever.
  if (info.isFIFO()) return { kind: 'pipe' }
  if (!info.isFile()) return undefined
  return { kind: 'file', contents: readFileSync(whole), mode: Number(info.mode) & 0o777 }
}

function writeEntry(whole: string, entry: SlotEntry): void {
  // One that a server made at its start, and removed, it makes again when it starts again.
  if (entry.kind === 'pipe') return
  mkdirSync(entry.kind === 'folder' ? whole : dirname(whole), { recursive: true })
  if (entry.kind === 'link') symlinkSync(entry.target, whole)
  if (entry.kind !== 'file') return
  writeFileSync(whole, entry.contents)
  chmodSync(whole, entry.mode)
}

type DatabaseFile = Extract<SlotEntry, { kind: 'file' }>

/**
 * Whether this is a database of SQLite without a write-ahead log. A server that has it open sees contents that are written
 * into the same file, if two numbers of its header are others: SQLite compares the change counter before it trusts the pages,
 * and the schema cookie before it trusts the tables that a connection remembers (https://sqlite.org/fileformat.html).
 */
function isDatabase(entry: SlotEntry | undefined): entry is DatabaseFile {
  return entry?.kind === 'file' && isDatabaseText(entry.contents)
}

function isDatabaseText(contents: Buffer): boolean {
  if (contents.length < 100) return false
  return contents.toString('latin1', 0, 16) === 'SQLite format 3\0' && contents[18] === 1
}

/** Where the header has its change counter, its schema cookie, and the counter for which its page count is valid. */
const [changeCounter, schemaCookie, validFor] = [24, 40, 92]

const versionOf = ({ contents }: DatabaseFile): number =>
  Math.max(contents.readUInt32BE(changeCounter), contents.readUInt32BE(schemaCookie))

/** The contents of a database with another number for its changes and its schema. */
function withVersion(contents: Buffer, version: number): Buffer {
  const changed = Buffer.from(contents)
  for (const place of [changeCounter, schemaCookie, validFor]) changed.writeUInt32BE(version, place)
  return changed
}

function equalEntries(left: SlotEntry, right: SlotEntry): boolean {
  if (left === right) return true
  if (isDatabase(left) && isDatabase(right))
    return left.mode === right.mode && withVersion(left.contents, 0).equals(withVersion(right.contents, 0))
  if (left.kind === 'file')
    return right.kind === 'file' && left.mode === right.mode && left.contents.equals(right.contents)
  if (left.kind === 'link') return right.kind === 'link' && left.target === right.target
  return right.kind === left.kind
}

/** Files that a program writes for itself. They are restored, but are not part of the state that tasks are about. */
const ownBusiness =
  /(?:^|\/)(?:\.npm|\.cache|\.git\/(?:index|logs)|__pycache__|tmp|xdg\/cache|node_modules)(?:\/|$)|\.(?:log|pid|lock|pyc)$|-(?:wal|shm|journal)$/

/** The contents of the databases among the files, but for those of the program. */
export function databasesIn(files: SlotFiles): Buffer[] {
  return [...files].flatMap(([path, entry]) =>
    isDatabase(entry) && !ownBusiness.test(path) ? [entry.contents] : [],
  )
}

/**
 * Describes what differs from the initial files, as JSON by path: the parsed contents of JSON files and of files with a
 * JSON object a line, other text as it is, what differs in the tables of a database, a hash of anything else, `"folder"`, and null
 * for what was removed.
 */
export async function describeChanges(initial: SlotFiles, now: SlotFiles): Promise<string> {
  const changes: Record<string, unknown> = {}
  for (const [path, entry] of now) {
    const before = initial.get(path)
    if (ownBusiness.test(path) || (before !== undefined && equalEntries(before, entry))) continue
    const tables = isDatabase(entry)
      ? await databaseDifference(isDatabase(before) ? before.contents : undefined, entry.contents)
      : undefined
    if (tables === undefined) changes[path] = describeEntry(entry)
    else if (Object.keys(tables).length > 0) changes[path] = tables
  }
  for (const path of initial.keys()) if (!now.has(path) && !ownBusiness.test(path)) changes[path] = null
  return JSON.stringify(changes)
}

/** Longest text of a file that is described by its contents. */
const longestText = 20_000

function describeEntry(entry: SlotEntry): unknown {
  if (entry.kind === 'folder' || entry.kind === 'pipe') return entry.kind
  if (entry.kind === 'link') return { link: entry.target }
  // No character has more than three bytes for each of its places.
  const isLong = entry.contents.length > 3 * longestText
  const text = isLong ? '' : entry.contents.toString('utf8')
  if (isLong || text.includes('\0') || text.includes('\uFFFD') || text.length > longestText) {
    const contents = isDatabaseText(entry.contents) ? withVersion(entry.contents, 0) : entry.contents
    return { hash: createHash('sha256').update(contents).digest('hex') }
  }
  const json = parseJson(text)
  if (json !== undefined) return json
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const records = lines.map(parseJson)
  return lines.length > 0 && records.every(isPlainObject) ? records : text
}
