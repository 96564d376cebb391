import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import { readForeignFile } from '../untrusted/foreign-file.ts'
import type { Estimate } from '../statistics/statistics.ts'
import {
  appendLines,
  checkFolder,
  makeFolder,
  readLines,
  requireWritable,
  withFileErrors,
  withFileErrorsAsync,
  writeWhole,
} from './files.ts'

/** A line of `metrics.jsonl`. */
export interface MetricsRecord {
  phase: string
  step: number
  seconds: number
  metrics: Record<string, number>
}

/** The files of a run. Writes are atomic, also after a kill. Errors name the path. */
export interface RunFolder {
  readonly id: string
  readonly path: string
  /** Absolute path of a file or folder inside. */
  file(...names: string[]): string
  has(name: string): boolean
  /** Writes a temporary file and renames it. */
  write(name: string, content: string | Uint8Array): void
  /** What a function makes of the text of a file, which it checks: a folder may be somebody else's. */
  read<T>(name: string, check: (text: string) => T): T
  readBytes(name: string): Uint8Array
  /** Appends lines to a JSONL file. Returns its new length in bytes. */
  append(name: string, lines: readonly string[]): void
  lines(name: string): string[]
  /** Size of a file in bytes; 0 if it does not exist. */
  size(name: string): number
  /** Truncates a file to this length. */
  truncate(name: string, bytes: number): void
  remove(name: string): void
  makeFolder(name: string): void
  isFolder(name: string): boolean
  /** Sorted names in a folder; empty if it does not exist. */
  list(name: string): string[]
  /** Runs other code on a path of this folder, and turns its file errors into AgogeErrors. */
  withFileErrors<T>(name: string, work: () => Promise<T>): Promise<T>
}

interface RunFolderOptions {
  /** The folder itself. Default: a new folder under `.agoge/runs/` (or another `kind`) of `root`. */
  path?: string
  /** Default: the current folder. */
  root?: string
  /** Name of the new folder. Default: the time, e.g. `2026-11-21T09-30-00`. */
  id?: string
  /** What is kept there. Default: `runs`, of trainings. */
  kind?: 'runs' | 'evaluations' | 'gateway'
}

/** Creates `.agoge/KIND` in a folder if necessary. `.agoge` contains a .gitignore for itself. Returns its path. */
export function ownFolder(root: string, kind: 'evaluations' | 'gateway' | 'runs' | 'tasks'): string {
  const home = resolve(root, '.agoge')
  makeFolder(join(home, kind))
  const ignore = join(home, '.gitignore')
  if (!existsSync(ignore)) withFileErrors(ignore, () => writeFileSync(ignore, '*\n'))
  return join(home, kind)
}

/**
 * Opens a run folder and creates it if necessary.
 *
 * @throws AgogeError naming the folder if it cannot be created or written.
 */
export function openRunFolder(options: RunFolderOptions = {}): RunFolder {
  if (options.path !== undefined) return usable(resolve(options.path))
  const folder = ownFolder(options.root ?? '.', options.kind ?? 'runs')
  const id = options.id ?? new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  for (let copy = 1; ; copy++) {
    const path = join(folder, copy === 1 ? id : `${id}-${copy}`)
    // Two runs started in the same second must not share a folder.
    if (options.id === undefined && existsSync(path)) continue
    return usable(path)
  }
}

/**
 * Checks before slow work whether a new run can use the folder, and leaves no changes. Default: a new folder under
 * `.agoge/runs`.
 *
 * @param resumeWith how a run in the folder is resumed, for the hint. Default: `--resume PATH`.
 * @throws AgogeError if the folder cannot be created or written, or contains a run or files that a run would overwrite.
 */
export function checkNewRun(path?: string, resumeWith = `--resume ${path}`): void {
  if (path !== undefined) refuseExistingRun(resolve(path), resumeWith)
  checkFolder(resolve(path ?? join('.agoge', 'runs')))
}

/** @throws AgogeError if the folder contains a run, or files with names that a run uses. */
export function refuseExistingRun(path: string, resumeWith: string): void {
  const found = ['config.json', ...ownNames].find((name) => existsSync(join(path, name)))
  if (found === undefined) return
  const isRun = found === 'config.json'
  throw new AgogeError(isRun ? `${path} already holds a run` : `${path} already holds a ${found}`, {
    code: 'run-exists',
    given: path,
    expected: 'an empty folder',
    hint: isRun
      ? `Resume it with ${resumeWith}, or choose another folder`
      : 'A run would overwrite it: choose another folder',
  })
}

/** Files and folders of a run, besides config.json. */
const ownNames = [
  'state.json',
  'state-before.json',
  'times.json',
  'checksums.sha256',
  'summary.json',
  'report.html',
  'metrics.jsonl',
  'episodes.jsonl',
  'demonstrations.jsonl',
  'checkpoints',
  'evaluations',
  'journal',
  'pending',
]

function usable(path: string): RunFolder {
  makeFolder(path)
  requireWritable(path)
  return runFolder(path)
}

function runFolder(path: string): RunFolder {
  const file = (...names: string[]): string => join(path, ...names)
  return {
    id: path.split(/[\\/]/).at(-1) ?? path,
    path,
    file,
    has: (name) => existsSync(file(name)),
    write(name, content) {
      writeWhole(file(name), content)
    },
    read: (name, check) => withFileErrors(file(name), () => readForeignFile(file(name), check)),
    readBytes: (name) => withFileErrors(file(name), () => readFileSync(file(name))),
    append(name, lines) {
      makeFolder(dirname(file(name)))
      withFileErrors(file(name), () => appendLines(file(name), lines))
    },
    lines: (name) => withFileErrors(file(name), () => readLines(file(name))),
    size: (name) => (existsSync(file(name)) ? statSync(file(name)).size : 0),
    truncate(name, bytes) {
      if (!existsSync(file(name))) return
      withFileErrors(file(name), () => {
        if (statSync(file(name)).size > bytes) truncateSync(file(name), bytes)
      })
    },
    remove(name) {
      withFileErrors(file(name), () => rmSync(file(name), { recursive: true, force: true }))
    },
    makeFolder(name) {
      makeFolder(file(name))
    },
    isFolder: (name) => statSync(file(name), { throwIfNoEntry: false })?.isDirectory() === true,
    list: (name) => (existsSync(file(name)) ? readdirSync(file(name)).sort() : []),
    withFileErrors: (name, work) => withFileErrorsAsync(file(name), work),
  }
}

/** An event of a running job. Listeners do not affect the run. */
export type TrainingEvent =
  | { type: 'phase'; name: string; total: number | null }
  | {
      type: 'step'
      phase: string
      step: number
      total: number | null
      /** Seconds of this step. */
      seconds: number
      metrics: Record<string, number>
    }
  | { type: 'evaluation'; stage: string; split: string; done: number; total: number; success?: Estimate }
  | { type: 'note'; text: string }

export type OnTrainingEvent = (event: TrainingEvent) => void

/** The machine of a run, for the record. */
export interface Machine {
  platform: string
  cpu: string
  cores: number
  memoryGiB: number
  node: string
}

export function machine(): Machine {
  return {
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  }
}
