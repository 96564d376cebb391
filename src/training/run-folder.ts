import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import { appendLines, readLines } from '../episode/index.ts'

/** The files of a run. Every write is either whole or absent, also after a kill; failures name the path. */
export interface RunFolder {
  readonly id: string
  readonly path: string
  /** Absolute path of something inside the folder. */
  file(...names: string[]): string
  has(name: string): boolean
  /** Writes a file aside and renames it into place. */
  write(name: string, text: string): void
  read(name: string): string
  /** Appends lines to a JSONL file and returns its new length in bytes. */
  append(name: string, lines: readonly string[]): void
  lines(name: string): string[]
  /** Bytes of a file, 0 where it does not exist. */
  size(name: string): number
  /** Cuts a file back to what it was. */
  truncate(name: string, bytes: number): void
  remove(name: string): void
  makeFolder(name: string): void
  /** Names in a folder, sorted; none where it does not exist. */
  list(name: string): string[]
  /** Runs work of somebody else on a path of this folder, its file errors named like ours. */
  guard<T>(name: string, work: () => Promise<T>): Promise<T>
}

export interface RunFolderOptions {
  /** The folder itself; without it a new one is made under `.agoge/runs/` of `root`. */
  path?: string
  /** Default: the current folder. */
  root?: string
  /** Name of the new folder; default: the time, e.g. `2026-11-21T09-30-00`. */
  id?: string
}

/** Opens a run folder, making it where it does not exist yet. `.agoge` hides itself from git. */
export function openRunFolder(options: RunFolderOptions = {}): RunFolder {
  if (options.path !== undefined) {
    const path = resolve(options.path)
    guarded(path, () => mkdirSync(path, { recursive: true }))
    return runFolder(path)
  }
  const home = resolve(options.root ?? '.', '.agoge')
  guarded(home, () => {
    mkdirSync(join(home, 'runs'), { recursive: true })
    if (!existsSync(join(home, '.gitignore'))) writeFileSync(join(home, '.gitignore'), '*\n')
  })
  const id = options.id ?? new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  for (let copy = 1; ; copy++) {
    const path = join(home, 'runs', copy === 1 ? id : `${id}-${copy}`)
    // Two runs begun in the same second must not share a folder.
    if (options.id === undefined && existsSync(path)) continue
    guarded(path, () => mkdirSync(path, { recursive: true }))
    return runFolder(path)
  }
}

function runFolder(path: string): RunFolder {
  const file = (...names: string[]): string => join(path, ...names)
  return {
    id: path.split(/[\\/]/).at(-1) ?? path,
    path,
    file,
    has: (name) => existsSync(file(name)),
    write(name, text) {
      const target = file(name)
      guarded(target, () => {
        mkdirSync(dirname(target), { recursive: true })
        const aside = `${target}.${process.pid}.part`
        try {
          writeFileSync(aside, text)
          renameSync(aside, target)
        } catch (error) {
          rmSync(aside, { force: true })
          throw error
        }
      })
    },
    read: (name) => guarded(file(name), () => readFileSync(file(name), 'utf8')),
    append(name, lines) {
      guarded(file(name), () => {
        mkdirSync(dirname(file(name)), { recursive: true })
        appendLines(file(name), lines)
      })
    },
    lines: (name) => guarded(file(name), () => readLines(file(name))),
    size: (name) => (existsSync(file(name)) ? statSync(file(name)).size : 0),
    truncate(name, bytes) {
      if (!existsSync(file(name))) return
      guarded(file(name), () => {
        if (statSync(file(name)).size > bytes) truncateSync(file(name), bytes)
      })
    },
    remove(name) {
      guarded(file(name), () => rmSync(file(name), { recursive: true, force: true }))
    },
    makeFolder(name) {
      guarded(file(name), () => mkdirSync(file(name), { recursive: true }))
    },
    list: (name) => (existsSync(file(name)) ? readdirSync(file(name)).sort() : []),
    async guard(name, work) {
      try {
        return await work()
      } catch (cause) {
        throw asFileError(file(name), cause)
      }
    },
  }
}

const hints: Record<string, string> = {
  EACCES: 'Choose a folder that you may write to with --out, or change its permissions',
  EPERM: 'Choose a folder that you may write to with --out, or change its permissions',
  EROFS: 'The file system is mounted read-only: choose another folder with --out',
  ENOSPC: 'The disk is full: make room, then go on with --resume',
  EDQUOT: 'Your quota is used up: make room, then go on with --resume',
  ENOTDIR: 'A part of the path is a file: choose another folder with --out',
  EEXIST: 'A file stands where a folder is needed: choose another folder with --out',
}

/** Runs a file operation; its failure becomes an AgogeError that names the path and the repair. */
export function guarded<T>(path: string, operation: () => T): T {
  try {
    return operation()
  } catch (cause) {
    throw asFileError(path, cause)
  }
}

/** The AgogeError for a failed file operation; what is not a file error is returned as it is. */
export function asFileError(path: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (AgogeError.isInstance(cause) || !/^E[A-Z0-9]+$/.test(code)) return cause
  return new AgogeError(`Cannot write or read ${path} (${code})`, {
    code: 'run-folder',
    given: path,
    expected: 'a folder that can be written to, with room for the checkpoints',
    ...(hints[code] === undefined ? {} : { hint: hints[code] }),
    cause,
  })
}
