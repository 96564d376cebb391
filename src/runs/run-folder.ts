import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import type { Estimate } from '../statistics/intervals.ts'
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

/** The files of a run. Every write is either whole or absent, also after a kill; failures name the path. */
export interface RunFolder {
  readonly id: string
  readonly path: string
  /** Absolute path of something inside the folder. */
  file(...names: string[]): string
  has(name: string): boolean
  /** Writes a file aside and renames it into place. */
  write(name: string, content: string | Uint8Array): void
  read(name: string): string
  readBytes(name: string): Uint8Array
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
  withFileErrors<T>(name: string, work: () => Promise<T>): Promise<T>
}

interface RunFolderOptions {
  /** The folder itself; without it a new one is made under `.agoge/runs/` of `root`. */
  path?: string
  /** Default: the current folder. */
  root?: string
  /** Name of the new folder; default: the time, e.g. `2026-11-21T09-30-00`. */
  id?: string
}

/**
 * Opens a run folder, making it where it does not exist yet. `.agoge` hides itself from git.
 *
 * @throws AgogeError naming the folder where it cannot be made or written.
 */
export function openRunFolder(options: RunFolderOptions = {}): RunFolder {
  if (options.path !== undefined) return usable(resolve(options.path))
  const home = resolve(options.root ?? '.', '.agoge')
  makeFolder(join(home, 'runs'))
  const ignore = join(home, '.gitignore')
  if (!existsSync(ignore)) withFileErrors(ignore, () => writeFileSync(ignore, '*\n'))
  const id = options.id ?? new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  for (let copy = 1; ; copy++) {
    const path = join(home, 'runs', copy === 1 ? id : `${id}-${copy}`)
    // Two runs begun in the same second must not share a folder.
    if (options.id === undefined && existsSync(path)) continue
    return usable(path)
  }
}

/**
 * Tries, before anything slow begins, whether a new run can live in the folder (default: a new one under `.agoge/runs`), and leaves
 * everything as it was.
 *
 * @throws AgogeError where the folder cannot be made or written, or holds a run or files that a run would overwrite.
 */
export function checkNewRun(path?: string): void {
  if (path !== undefined) refuseExistingRun(resolve(path))
  checkFolder(resolve(path ?? join('.agoge', 'runs')))
}

/** Throws an AgogeError where the folder holds a run, or files with the names that a run gives to its own. */
export function refuseExistingRun(path: string): void {
  const found = ['config.json', ...ownNames].find((name) => existsSync(join(path, name)))
  if (found === undefined) return
  const isRun = found === 'config.json'
  throw new AgogeError(isRun ? `${path} already holds a run` : `${path} already holds a ${found}`, {
    code: 'run-exists',
    given: path,
    expected: 'an empty folder',
    hint: isRun
      ? `Resume it with --resume ${path}, or choose another folder with --out`
      : 'A run would overwrite it: choose another folder with --out',
  })
}

/** Besides config.json, which makes a folder a run. */
const ownNames = [
  'state.json',
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
    read: (name) => withFileErrors(file(name), () => readFileSync(file(name), 'utf8')),
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
    list: (name) => (existsSync(file(name)) ? readdirSync(file(name)).sort() : []),
    withFileErrors: (name, work) => withFileErrorsAsync(file(name), work),
  }
}

/** What a job tells those who watch it. Nothing depends on whether anybody does. */
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
